// @ts-check
/** The texts of clip_en.js in French. */

/** @type {Record<string, string>} */
export const texts = {
  "consent.text":
    "Nous vous invitons à participer à une étude sur le réalisme des vidéos créées par ordinateur.\n\nVous verrez des vidéos, une par une, et direz de chacune s’il s’agit d’une vraie vidéo ou d’une vidéo créée par un ordinateur. Aucune connaissance préalable n’est nécessaire.\n\nNous conservons vos réponses, le temps que vous y avez mis, le fait que vous ayez quitté cette page entre-temps, et des informations techniques sur votre écran. Nous ne demandons pas votre nom. Les réponses servent à la recherche et peuvent être publiées sans rien qui permette de vous identifier.\n\nLa participation est volontaire. Vous pouvez arrêter à tout moment en fermant cette page. Vous recevrez un lien qui permet de vous retirer, à ce moment-là ou plus tard : vos réponses sont alors supprimées, et ce que vous avez gagné vous est payé malgré tout.",
  "consent.text.tournament":
    "Nous vous invitons à participer à une étude sur le réalisme des vidéos créées par ordinateur.\n\nVous verrez des vidéos, deux par deux, et direz laquelle des deux paraît plus vraie. Aucune connaissance préalable n’est nécessaire.\n\nNous conservons vos réponses, le temps que vous y avez mis, le fait que vous ayez quitté cette page entre-temps, et des informations techniques sur votre écran. Nous ne demandons pas votre nom. Les réponses servent à la recherche et peuvent être publiées sans rien qui permette de vous identifier.\n\nLa participation est volontaire. Vous pouvez arrêter à tout moment en fermant cette page. Vous recevrez un lien qui permet de vous retirer, à ce moment-là ou plus tard : vos réponses sont alors supprimées, et ce que vous avez gagné vous est payé malgré tout.",
  "consent.text.pair":
    "Nous vous invitons à participer à une étude sur le réalisme des vidéos créées par ordinateur.\n\nVous verrez des paires de vidéos, côte à côte : l’une est une vraie vidéo, l’autre a été créée par un ordinateur. Vous direz laquelle est vraie. Aucune connaissance préalable n’est nécessaire.\n\nNous conservons vos réponses, le temps que vous y avez mis, le fait que vous ayez quitté cette page entre-temps, et des informations techniques sur votre écran. Nous ne demandons pas votre nom. Les réponses servent à la recherche et peuvent être publiées sans rien qui permette de vous identifier.\n\nLa participation est volontaire. Vous pouvez arrêter à tout moment en fermant cette page. Vous recevrez un lien qui permet de vous retirer, à ce moment-là ou plus tard : vos réponses sont alors supprimées, et ce que vous avez gagné vous est payé malgré tout.",
  "check.instruction": "Pour celle-ci, veuillez choisir « {answer} », quoi que montre la vidéo.",
  "practice.intro":
    "Vous commencez par un entraînement. Vidéos : {n}. Après chaque réponse, on vous dit si elle était juste.",
  "practice.offer.count": "{n} vidéos au début, qui ne comptent pas",
  "real_or_fake.half":
    "Vous verrez des vidéos, une par une. La moitié sont vraies. L’autre moitié a été créée par un ordinateur : elles sont fausses. Elles apparaissent dans un ordre aléatoire.",
  "real_or_fake.chance":
    "Vous verrez des vidéos, une par une. Chacune est soit vraie, soit créée par un ordinateur : elle est alors fausse. Les deux sont aussi probables à chaque fois, quoi qu’il y ait eu avant.",
  "real_or_fake.press":
    "Pour chaque vidéo, appuyez sur {fake_key} si elle est fausse ou sur {real_key} si elle est vraie, ou utilisez les boutons.",
  "real_or_fake.tap": "Pour chaque vidéo, touchez « {fake} » ou « {real} ».",
  "real_or_fake.shares_half":
    "La moitié de toutes les vidéos sont vraies, et les autres sont fausses. Veuillez prendre un instant pour chacune.",
  "real_or_fake.shares_chance":
    "Environ la moitié de toutes les vidéos sont vraies, et les autres sont fausses. Veuillez prendre un instant pour chacune.",
  "more_real.pairs":
    "Vous verrez deux vidéos à la fois, côte à côte. Pour chaque paire, dites laquelle des deux vidéos vous paraît plus vraie. Aucune réponse n’est juste ou fausse.",
  "more_real.sides":
    "C’est le hasard qui décide quelle vidéo se trouve à gauche. Veuillez prendre un instant pour chaque paire.",
  "which_is_real.half":
    "Vous verrez deux vidéos à la fois, côte à côte. L’une est vraie. L’autre a été créée par un ordinateur : elle est fausse. La vraie est à gauche aussi souvent qu’à droite, dans un ordre aléatoire.",
  "which_is_real.chance":
    "Vous verrez deux vidéos à la fois, côte à côte. L’une est vraie. L’autre a été créée par un ordinateur : elle est fausse. Chaque fois, la vraie a autant de chances d’être à gauche qu’à droite, quoi qu’il y ait eu avant.",
  "which_is_real.shares_half":
    "La vraie vidéo est à gauche aussi souvent qu’à droite. Prenez s’il vous plaît un instant pour chaque paire.",
  "which_is_real.shares_chance":
    "La vraie vidéo est à gauche à peu près aussi souvent qu’à droite. Prenez s’il vous plaît un instant pour chaque paire.",
  "picture.to_judge": "La vidéo à juger",
  "picture.progress": "Vidéo {n} sur {total}",
  "picture.part_done":
    "La partie {part} sur {parts} est terminée : {answered} vidéos sur {total}. Toutes vos réponses sont enregistrées.",
  "pictures.to_judge": "Les vidéos à juger, côte à côte : {n}",
  "pictures.ready_all":
    "Les vidéos s’affichent une seule fois, en même temps, plus ou moins longtemps, après un compte à rebours. Gardez les yeux là où se trouvent les chiffres, entre les vidéos.",
  "pictures.ready_some":
    "Les vidéos arrivent en même temps, après un compte à rebours. Certaines s’affichent une seule fois, plus ou moins longtemps ; les autres restent jusqu’à votre réponse. Gardez les yeux là où se trouvent les chiffres, entre les vidéos.",
  "offer.pictures": "Vidéos",
  "offer.picture_count": "{n} vidéos",
  "offer.picture_count_parts": "{n} vidéos, en {parts} parties avec des pauses",
  "offer.pairs": "Paires de vidéos",
  "offer.flashes": "Cette tâche fait clignoter des vidéos",
  "offer.flashes_risk":
    "Les vidéos apparaissent une fraction de seconde, suivies de motifs rapides. Si vous êtes épileptique, ou si les lumières clignotantes vous mettent mal à l’aise, veuillez ne pas participer.",
  "block.loading_first": "Les premières vidéos arrivent.",
  "block.loading_all": "Les vidéos se chargent, afin qu’aucune n’arrive en retard.",
  "block.ready_flash":
    "Chaque vidéo apparaît une fois, très brièvement, après un compte à rebours : 3, 2, 1. Gardez les yeux là où se trouvent les chiffres.",
  "block.ready_all":
    "Chaque vidéo s'affiche une seule fois, plus ou moins longtemps, après un compte à rebours. Gardez les yeux là où se trouvent les chiffres.",
  "block.ready_some":
    "Chaque vidéo arrive après un compte à rebours. Certaines s'affichent une seule fois, plus ou moins longtemps ; les autres restent jusqu'à votre réponse. Gardez les yeux là où se trouvent les chiffres.",
  "block.replaced": "Cette vidéo n’a pas été affichée correctement par le navigateur. En voici une autre.",
  "block.replaced_paid":
    "Cette vidéo n’a pas été affichée correctement par le navigateur. Elle compte pour votre rémunération ; en voici une autre.",
  "fit.cut": "La vidéo ne tient pas à l’écran",
  "end.early_why":
    "Trop de vidéos n’ont pas pu être affichées comme elles le devraient. Ce n’est pas votre faute.",
  "end.early_why_paid":
    "Trop de vidéos n’ont pas pu être affichées comme elles le devraient. Ce n’est pas votre faute, et ce que vous avez fait vous est payé.",
  "end.part_why":
    "Trop de vidéos n’ont pas été vues comme prévu, par exemple parce que la fenêtre était masquée, n’était pas en plein écran ou a été modifiée.",
  "test.needed":
    "Pour participer à l’étude, il faut reconnaître {share} des vraies vidéos et {share} des fausses. Cela ne dit rien de la qualité de votre travail, et le test vous est payé.",
  "test.reals": "Vraies vidéos",
  "test.fakes": "Fausses vidéos",
  "demo.nothing_sent":
    "C’était la démonstration. Rien n’a été enregistré ni envoyé, et le résultat d’une personne sur quelques vidéos ne dit pas grand-chose.",
  "refused.took_part_before_help":
    "Vous avez participé à une autre de nos études. Celle-ci s’adresse aux personnes qui n’ont jamais vu de telles vidéos. Vous n’avez rien fait de mal.",
  "trouble.undecoded_now": "Une vidéo met très longtemps à s’ouvrir.",
  "trouble.undecoded": "Une vidéo ne s’ouvre pas",
  "trouble.undecoded_help":
    "Votre navigateur a reçu une vidéo, mais ne parvient pas à l’ouvrir. Fermer d’autres programmes et onglets peut aider.",
  "debrief.none_fooled": "Vous n’avez été dupe d’aucune fausse vidéo",
  "debrief.fooled": "Vous avez été dupe de {share} des fausses vidéos",
  "debrief.flashes":
    "La plupart des vidéos ont été affichées {ms} : les bonnes réponses raccourcissaient la durée, les mauvaises l’allongeaient.",
  "debrief.own":
    "Vous avez pris {fakes} des fausses vidéos pour des vraies et {reals} des vraies pour des fausses.",
  "debrief.made_by": "Les fausses vidéos ont été créées par « {model} ».",
  "debrief.one_share":
    "Une autre session avec ce modèle s’est trompée sur {theirs} de toutes les vidéos, vous sur environ {yours}.",
  "debrief.one_share_models":
    "Une autre session avec ces modèles s’est trompée sur {theirs} de toutes les vidéos, vous sur environ {yours}.",
  "debrief.others_share":
    "Les {n} autres sessions avec ce modèle se sont trompées en moyenne sur {theirs} de toutes les vidéos, vous sur environ {yours}.",
  "debrief.others_share_models":
    "Les {n} autres sessions avec ces modèles se sont trompées en moyenne sur {theirs} de toutes les vidéos, vous sur environ {yours}.",
  "debrief.next_time": "La prochaine fois, les fausses vidéos seront peut-être d’un autre genre.",
  "debrief.table_share": "Combien de fois les vidéos ont été mal jugées",
  "debrief.table_ms": "Combien de temps il faut voir une vidéo pour distinguer le vrai du faux",
  "debrief.these_pictures": "ces vidéos",
  "debrief.right_ones": "Vidéos bien jugées : {n}",
  "debrief.all_right": "Vous avez bien jugé toutes les vidéos",
  "questions.stored":
    "Vous en avez terminé avec les vidéos, et vos réponses à leur sujet sont enregistrées. Ce que vous avez gagné ne dépend pas de ces dernières questions.",
  "demo.part_of":
    "Cette démonstration s’est terminée plus tôt que prévu. Vidéos affichées comme prévu et jugées : {n} sur {total}. Votre résultat ne vaut que pour celles-ci ; un score les demande toutes.",
  "demo.none_of":
    "Cette démonstration s’est terminée avant que l’une de ses {total} vidéos soit affichée comme prévu : il n’y a donc rien à compter.",
  "demo.without_flashes_help":
    "Sans vidéos éclair, le temps exact ne compte pas : cela marche sur tout ordinateur, et aussi sur un téléphone.",
  "demo.without_flashes": "Jouer sans vidéos éclair",
  "flash.left_full_screen_help":
    "Cette tâche a besoin de tout l’écran. Rien n’est perdu : la vidéo est remplacée par une autre.",
  "flash.wrong": "Les vidéos ne s’affichent pas comme elles le devraient",
  "clip.play": "Lire",
  "clip.stop": "Arrêter",
  "clip.again": "Relire",
  "clip.again_left": "Relire (encore {n})",
  "clip.key": "Espace",
  "clip.note_loop":
    "Chaque vidéo se lit toute seule, en boucle. Le bouton au-dessous permet de l’arrêter et de la relire. Vous pouvez répondre dès que vous avez votre réponse.",
  "clip.note_once": "Chaque vidéo se lit toute seule, une fois. Veuillez la regarder jusqu’à la fin.",
  "clip.note_replays":
    "Chaque vidéo se lit toute seule. Le bouton au-dessous permet de la relire ; nombre de fois au plus : {n}. Vous pouvez répondre dès que vous avez votre réponse.",
  "clip.note_calm":
    "Votre appareil demande moins de mouvement : chaque vidéo ne se lit que lorsque vous appuyez sur le bouton au-dessous.",
  "clip.unfit": "Les vidéos ne peuvent pas être affichées ici",
  "clip.no_decoder":
    "Ce navigateur ne peut pas afficher ces vidéos image par image. Les versions actuelles de Chrome, d’Edge et de Safari le peuvent, ainsi que Firefox sur un ordinateur. Veuillez ouvrir le même lien dans l’un d’eux.",
  "clip.no_codec":
    "Ce navigateur ne peut pas ouvrir le type de vidéo que cette tâche utilise. Veuillez ouvrir le même lien dans un autre navigateur ou sur un autre appareil.",
  "clip.no_memory":
    "Cet appareil n’a pas assez de mémoire pour les vidéos de cette tâche. Veuillez ouvrir le même lien sur un ordinateur.",
};
