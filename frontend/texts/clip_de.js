// @ts-check
/** The texts of clip_en.js in German. */

/** @type {Record<string, string>} */
export const texts = {
  "consent.text":
    "Wir laden Sie ein, an einer Studie dazu teilzunehmen, wie echt computergenerierte Videos wirken.\n\nSie sehen Videos, eines nach dem anderen, und sagen von jedem, ob es ein echtes Video ist oder eines, das ein Computer erzeugt hat. Vorkenntnisse brauchen Sie nicht.\n\nWir speichern Ihre Antworten, wie lange Sie dafür gebraucht haben, ob Sie diese Seite zwischendurch verlassen haben, und technische Angaben zu Ihrem Bildschirm. Nach Ihrem Namen fragen wir nicht. Die Antworten werden für die Forschung verwendet und können veröffentlicht werden, ohne irgendetwas, das auf Sie hinweist.\n\nDie Teilnahme ist freiwillig. Sie können jederzeit aufhören, indem Sie diese Seite schließen. Sie erhalten einen Link, über den Sie Ihre Teilnahme zurückziehen können, dann oder später: Ihre Antworten werden gelöscht, und was Sie verdient haben, wird trotzdem bezahlt.",
  "consent.text.tournament":
    "Wir laden Sie ein, an einer Studie dazu teilzunehmen, wie echt computergenerierte Videos wirken.\n\nSie sehen Videos, immer zwei auf einmal, und sagen, welches der beiden echter wirkt. Vorkenntnisse brauchen Sie nicht.\n\nWir speichern Ihre Antworten, wie lange Sie dafür gebraucht haben, ob Sie diese Seite zwischendurch verlassen haben, und technische Angaben zu Ihrem Bildschirm. Nach Ihrem Namen fragen wir nicht. Die Antworten werden für die Forschung verwendet und können veröffentlicht werden, ohne irgendetwas, das auf Sie hinweist.\n\nDie Teilnahme ist freiwillig. Sie können jederzeit aufhören, indem Sie diese Seite schließen. Sie erhalten einen Link, über den Sie Ihre Teilnahme zurückziehen können, dann oder später: Ihre Antworten werden gelöscht, und was Sie verdient haben, wird trotzdem bezahlt.",
  "consent.text.pair":
    "Wir laden Sie ein, an einer Studie dazu teilzunehmen, wie echt computergenerierte Videos wirken.\n\nSie sehen Paare von Videos, nebeneinander: Ein Video ist echt, das andere hat ein Computer erzeugt. Sie sagen, welches echt ist. Vorkenntnisse brauchen Sie nicht.\n\nWir speichern Ihre Antworten, wie lange Sie dafür gebraucht haben, ob Sie diese Seite zwischendurch verlassen haben, und technische Angaben zu Ihrem Bildschirm. Nach Ihrem Namen fragen wir nicht. Die Antworten werden für die Forschung verwendet und können veröffentlicht werden, ohne irgendetwas, das auf Sie hinweist.\n\nDie Teilnahme ist freiwillig. Sie können jederzeit aufhören, indem Sie diese Seite schließen. Sie erhalten einen Link, über den Sie Ihre Teilnahme zurückziehen können, dann oder später: Ihre Antworten werden gelöscht, und was Sie verdient haben, wird trotzdem bezahlt.",
  "check.instruction": "Drücken Sie bei diesem Video bitte „{answer}“, ganz gleich, was es zeigt.",
  "practice.intro":
    "Sie beginnen mit einer Übung. Videos: {n}. Nach jeder Antwort erfahren Sie, ob sie richtig war.",
  "practice.offer.count": "{n} Videos zu Beginn, die nicht zählen",
  "real_or_fake.half":
    "Sie sehen Videos, eines nach dem anderen. Die Hälfte davon ist echt. Die andere Hälfte hat ein Computer erzeugt: Diese sind Fakes. Die Reihenfolge ist zufällig.",
  "real_or_fake.chance":
    "Sie sehen Videos, eines nach dem anderen. Jedes ist entweder echt, oder ein Computer hat es erzeugt: Dann ist es ein Fake. Beides ist jedes Mal gleich wahrscheinlich, unabhängig davon, was vorher kam.",
  "real_or_fake.press":
    "Drücken Sie bei jedem Video {fake_key} für Fake oder {real_key} für Echt, oder benutzen Sie die Schaltflächen.",
  "real_or_fake.tap": "Tippen Sie bei jedem Video auf „{fake}“ oder „{real}“.",
  "real_or_fake.shares_half":
    "Die Hälfte aller Videos ist echt, die anderen sind Fakes. Bitte nehmen Sie sich für jedes einen Moment Zeit.",
  "real_or_fake.shares_chance":
    "Etwa die Hälfte aller Videos ist echt, die anderen sind Fakes. Bitte nehmen Sie sich für jedes einen Moment Zeit.",
  "more_real.pairs":
    "Sie sehen immer zwei Videos nebeneinander. Sagen Sie bei jedem Paar, welches der beiden Videos auf Sie echter wirkt. Keine Antwort ist richtig oder falsch.",
  "more_real.sides":
    "Welches Video links steht, ist Zufall. Bitte nehmen Sie sich für jedes Paar einen Moment Zeit.",
  "which_is_real.half":
    "Sie sehen jeweils zwei Videos nebeneinander. Eines davon ist echt. Das andere hat ein Computer erzeugt: Es ist ein Fake. Das echte steht gleich oft links und rechts, in zufälliger Reihenfolge.",
  "which_is_real.chance":
    "Sie sehen jeweils zwei Videos nebeneinander. Eines davon ist echt. Das andere hat ein Computer erzeugt: Es ist ein Fake. Das echte steht jedes Mal mit gleicher Wahrscheinlichkeit links oder rechts, was auch vorher kam.",
  "which_is_real.shares_half":
    "Das echte Video steht gleich oft links und rechts. Bitte nehmen Sie sich für jedes Paar einen Moment.",
  "which_is_real.shares_chance":
    "Das echte Video steht etwa gleich oft links und rechts. Bitte nehmen Sie sich für jedes Paar einen Moment.",
  "picture.to_judge": "Das Video, das Sie beurteilen",
  "picture.progress": "Video {n} von {total}",
  "picture.part_done":
    "Teil {part} von {parts} ist geschafft: {answered} von {total} Videos. Alle Ihre Antworten sind gespeichert.",
  "pictures.to_judge": "Die Videos, die Sie beurteilen, nebeneinander: {n}",
  "pictures.ready_all":
    "Die Videos werden einmal gezeigt, gleichzeitig, kürzer oder länger, nach einem Countdown. Richten Sie Ihren Blick dorthin, wo die Zahlen stehen, zwischen die Videos.",
  "pictures.ready_some":
    "Die Videos kommen gleichzeitig, nach einem Countdown. Einige werden einmal gezeigt, kürzer oder länger; die anderen bleiben, bis Sie antworten. Richten Sie Ihren Blick dorthin, wo die Zahlen stehen, zwischen die Videos.",
  "offer.pictures": "Videos",
  "offer.picture_count": "{n} Videos",
  "offer.picture_count_parts": "{n} Videos, in {parts} Teilen mit Pausen",
  "offer.pairs": "Videopaare",
  "offer.flashes": "In dieser Aufgabe blitzen Videos auf",
  "offer.flashes_risk":
    "Videos erscheinen für den Bruchteil einer Sekunde, danach folgen schnell wechselnde Muster. Wenn Sie Epilepsie haben oder Ihnen von flackerndem Licht unwohl wird, nehmen Sie bitte nicht teil.",
  "block.loading_first": "Die ersten Videos sind unterwegs.",
  "block.loading_all": "Die Videos werden geladen, damit keines zu spät kommt.",
  "block.ready_flash":
    "Jedes Video blitzt einmal auf, nach einem Countdown von 3, 2, 1. Richten Sie Ihren Blick dorthin, wo die Zahlen stehen.",
  "block.ready_all":
    "Jedes Video wird einmal gezeigt, kürzer oder länger, nach einem Countdown. Richten Sie Ihren Blick dorthin, wo die Zahlen stehen.",
  "block.ready_some":
    "Jedes Video kommt nach einem Countdown. Einige werden einmal gezeigt, kürzer oder länger; die anderen bleiben, bis Sie antworten. Richten Sie Ihren Blick dorthin, wo die Zahlen stehen.",
  "block.replaced": "Der Browser hat dieses Video nicht richtig gezeigt. Hier ist ein anderes.",
  "block.replaced_paid":
    "Der Browser hat dieses Video nicht richtig gezeigt. Es zählt für Ihre Bezahlung; hier ist ein anderes.",
  "fit.cut": "Das Video passt nicht auf den Bildschirm",
  "end.early_why":
    "Zu viele Videos konnten nicht so gezeigt werden, wie sie sollten. Das liegt nicht an Ihnen.",
  "end.early_why_paid":
    "Zu viele Videos konnten nicht so gezeigt werden, wie sie sollten. Das liegt nicht an Ihnen, und was Sie getan haben, wird bezahlt.",
  "end.part_why":
    "Zu viele Videos wurden nicht wie geplant gesehen, zum Beispiel weil das Fenster verdeckt, nicht im Vollbild oder verändert war.",
  "test.needed":
    "Für die Teilnahme an der Studie sind {share} der echten und {share} der gefälschten Videos nötig. Das sagt nichts über Ihre Arbeit aus, und der Test wird Ihnen bezahlt.",
  "test.reals": "Echte Videos",
  "demo.nothing_sent":
    "Das war die Demo. Nichts wurde gespeichert oder gesendet, und das Ergebnis einer Person bei wenigen Videos sagt wenig aus.",
  "refused.took_part_before_help":
    "Sie haben an einer anderen Studie von uns teilgenommen. Diese ist für Menschen, die solche Videos noch nicht gesehen haben. Sie haben nichts falsch gemacht.",
  "trouble.undecoded_now": "Es dauert sehr lange, ein Video zu öffnen.",
  "trouble.undecoded": "Ein Video lässt sich nicht öffnen",
  "trouble.undecoded_help":
    "Ihr Browser hat ein Video empfangen, bekommt es aber nicht geöffnet. Es kann helfen, andere Programme und Tabs zu schließen.",
  "debrief.flashes":
    "Die meisten Videos wurden Ihnen {ms} lang gezeigt: Richtige Antworten machten die Zeit kürzer, falsche länger.",
  "debrief.own": "Sie haben {fakes} der Fakes für echt gehalten und {reals} der echten Videos für Fakes.",
  "debrief.one_share":
    "Eine andere Sitzung mit diesem Modell lag bei {theirs} aller Videos falsch, Ihre bei etwa {yours}.",
  "debrief.one_share_models":
    "Eine andere Sitzung mit diesen Modellen lag bei {theirs} aller Videos falsch, Ihre bei etwa {yours}.",
  "debrief.others_share":
    "Die {n} anderen Sitzungen mit diesem Modell lagen im Mittel bei {theirs} aller Videos falsch, Ihre bei etwa {yours}.",
  "debrief.others_share_models":
    "Die {n} anderen Sitzungen mit diesen Modellen lagen im Mittel bei {theirs} aller Videos falsch, Ihre bei etwa {yours}.",
  "debrief.table_share": "Wie oft Videos falsch beurteilt wurden",
  "debrief.table_ms": "Wie lange man ein Video sehen muss, um Echt und Fake zu unterscheiden",
  "debrief.these_pictures": "diese Videos",
  "debrief.right_ones": "Richtig beurteilte Videos: {n}",
  "debrief.all_right": "Sie haben jedes Video richtig beurteilt",
  "questions.stored":
    "Mit den Videos sind Sie fertig, und Ihre Antworten dazu sind gespeichert. Was Sie verdient haben, hängt nicht von diesen letzten Fragen ab.",
  "demo.part_of":
    "Diese Demo endete vorzeitig. Wie geplant gezeigt und beurteilt: {n} von {total} Videos. Ihr Ergebnis gilt nur für diese; für einen Wert braucht es alle.",
  "demo.none_of":
    "Diese Demo endete, bevor eines ihrer {total} Videos wie geplant gezeigt war. Es gibt also nichts zu zählen.",
  "flash.left_full_screen_help":
    "Das Aufblitzen braucht den ganzen Bildschirm. Nichts ist verloren: Das Video wird durch ein anderes ersetzt.",
  "flash.wrong": "Die Videos blitzen nicht so auf, wie sie sollen",
  "flash.wrong_why":
    "Ihr Browser hat die letzten Videos nicht für die richtige Dauer gezeigt. Das liegt nicht an Ihnen.",
  "clip.play": "Abspielen",
  "clip.stop": "Anhalten",
  "clip.again": "Noch einmal abspielen",
  "clip.again_left": "Noch einmal abspielen (noch {n})",
  "clip.key": "Leertaste",
  "clip.note_loop":
    "Jedes Video läuft von selbst, immer wieder. Mit der Schaltfläche darunter können Sie es anhalten und wieder abspielen. Sie können antworten, sobald Sie sich sicher sind.",
  "clip.note_once": "Jedes Video läuft von selbst, einmal. Bitte sehen Sie es bis zum Ende an.",
  "clip.note_replays":
    "Jedes Video läuft von selbst. Mit der Schaltfläche darunter können Sie es wiederholen, höchstens so oft: {n}. Sie können antworten, sobald Sie sich sicher sind.",
  "clip.note_calm":
    "Ihr Gerät wünscht weniger Bewegung. Deshalb läuft jedes Video erst, wenn Sie die Schaltfläche darunter drücken.",
  "clip.unfit": "Die Videos können hier nicht gezeigt werden",
  "clip.no_decoder":
    "Dieser Browser kann diese Videos nicht Bild für Bild zeigen. Aktuelle Versionen von Chrome, Edge und Safari können es, und Firefox auf einem Computer. Bitte öffnen Sie denselben Link in einem davon.",
  "clip.no_codec":
    "Dieser Browser kann die Art von Videos, die diese Aufgabe verwendet, nicht öffnen. Bitte öffnen Sie denselben Link in einem anderen Browser oder auf einem anderen Gerät.",
  "clip.no_memory":
    "Dieses Gerät hat zu wenig Speicher für die Videos dieser Aufgabe. Bitte öffnen Sie denselben Link auf einem Computer.",
};
