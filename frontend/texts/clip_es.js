// @ts-check
/** The texts of clip_en.js in Spanish. */

/** @type {Record<string, string>} */
export const texts = {
  "consent.text":
    "Le invitamos a participar en un estudio sobre lo reales que parecen las secuencias de vídeo hechas por ordenador.\n\nVerá secuencias, una por una, y dirá de cada una si es una secuencia real o una hecha por un ordenador. No necesita saber nada de antemano.\n\nGuardamos sus respuestas, el tiempo que tardó en darlas, si salió de esta página mientras tanto y datos técnicos de su pantalla. No le preguntamos su nombre. Las respuestas se usan para la investigación y pueden publicarse sin nada que le identifique.\n\nLa participación es voluntaria. Puede dejarlo en cualquier momento cerrando esta página. Recibirá un enlace con el que puede retirarse, entonces o más tarde: sus respuestas se borran y lo que haya ganado se le paga de todos modos.",
  "consent.text.tournament":
    "Le invitamos a participar en un estudio sobre lo reales que parecen las secuencias de vídeo hechas por ordenador.\n\nVerá secuencias, de dos en dos, y dirá cuál de las dos parece más real. No necesita saber nada de antemano.\n\nGuardamos sus respuestas, el tiempo que tardó en darlas, si salió de esta página mientras tanto y datos técnicos de su pantalla. No le preguntamos su nombre. Las respuestas se usan para la investigación y pueden publicarse sin nada que le identifique.\n\nLa participación es voluntaria. Puede dejarlo en cualquier momento cerrando esta página. Recibirá un enlace con el que puede retirarse, entonces o más tarde: sus respuestas se borran y lo que haya ganado se le paga de todos modos.",
  "consent.text.pair":
    "Le invitamos a participar en un estudio sobre lo reales que parecen las secuencias de vídeo hechas por ordenador.\n\nVerá pares de secuencias, una al lado de otra: una secuencia es real y la otra la hizo un ordenador. Dirá cuál es real. No necesita saber nada de antemano.\n\nGuardamos sus respuestas, el tiempo que tardó en darlas, si salió de esta página mientras tanto y datos técnicos de su pantalla. No le preguntamos su nombre. Las respuestas se usan para la investigación y pueden publicarse sin nada que le identifique.\n\nLa participación es voluntaria. Puede dejarlo en cualquier momento cerrando esta página. Recibirá un enlace con el que puede retirarse, entonces o más tarde: sus respuestas se borran y lo que haya ganado se le paga de todos modos.",
  "check.instruction": "En esta, pulse «{answer}», por favor, muestre lo que muestre la secuencia.",
  "practice.intro":
    "Empieza con una práctica. Secuencias: {n}. Después de cada respuesta se le dice si era correcta.",
  "practice.offer.count": "{n} secuencias al principio, que no cuentan",
  "real_or_fake.half":
    "Verá secuencias de vídeo, una por una. La mitad son reales. La otra mitad las hizo un ordenador: son falsas. Aparecen en orden aleatorio.",
  "real_or_fake.chance":
    "Verá secuencias de vídeo, una por una. Cada una es real o la hizo un ordenador, y entonces es falsa. Ambas cosas son igual de probables cada vez, sin importar lo que haya salido antes.",
  "real_or_fake.press":
    "En cada secuencia, pulse {fake_key} si es falsa o {real_key} si es real, o use los botones.",
  "real_or_fake.tap": "En cada secuencia, toque «{fake}» o «{real}».",
  "real_or_fake.shares_half":
    "La mitad de todas las secuencias son reales, y las demás son falsas. Por favor, dedique un momento a cada una.",
  "real_or_fake.shares_chance":
    "Aproximadamente la mitad de todas las secuencias son reales, y las demás son falsas. Por favor, dedique un momento a cada una.",
  "more_real.pairs":
    "Verá dos secuencias de vídeo a la vez, una al lado de la otra. Diga de cada par cuál de las dos secuencias le parece más real. Ninguna respuesta es correcta ni incorrecta.",
  "more_real.sides":
    "Qué secuencia está a la izquierda es cuestión de azar. Por favor, dedique un momento a cada par.",
  "which_is_real.half":
    "Verá dos secuencias de vídeo cada vez, una al lado de otra. Una de ellas es real. La otra la hizo un ordenador: es falsa. La real está a la izquierda tantas veces como a la derecha, en orden aleatorio.",
  "which_is_real.chance":
    "Verá dos secuencias de vídeo cada vez, una al lado de otra. Una de ellas es real. La otra la hizo un ordenador: es falsa. Cada vez es igual de probable que la real esté a la izquierda o a la derecha, sin importar las anteriores.",
  "which_is_real.shares_half":
    "La secuencia real está a la izquierda tantas veces como a la derecha. Por favor, dedique un momento a cada par.",
  "which_is_real.shares_chance":
    "La secuencia real está a la izquierda más o menos tantas veces como a la derecha. Por favor, dedique un momento a cada par.",
  "picture.to_judge": "La secuencia que debe juzgar",
  "picture.progress": "Secuencia {n} de {total}",
  "picture.part_done":
    "Ha terminado la parte {part} de {parts}: {answered} de {total} secuencias. Todas sus respuestas están guardadas.",
  "pictures.to_judge": "Las secuencias que debe juzgar, una al lado de otra: {n}",
  "pictures.ready_all":
    "Las secuencias se muestran una sola vez, al mismo tiempo, durante más o menos tiempo, después de una cuenta atrás. Mantenga la vista donde están los números, entre las secuencias.",
  "pictures.ready_some":
    "Las secuencias aparecen al mismo tiempo, después de una cuenta atrás. Algunas se muestran una sola vez, durante más o menos tiempo; las demás permanecen hasta que usted responde. Mantenga la vista donde están los números, entre las secuencias.",
  "offer.pictures": "Secuencias",
  "offer.picture_count": "{n} secuencias de vídeo",
  "offer.picture_count_parts": "{n} secuencias de vídeo, en {parts} partes con pausas",
  "offer.pairs": "Pares de secuencias",
  "offer.flashes": "En esta tarea aparecen destellos de secuencias",
  "offer.flashes_risk":
    "Las secuencias aparecen durante una fracción de segundo, seguidas de patrones rápidos. Si tiene epilepsia, o si las luces intermitentes le causan malestar, no participe, por favor.",
  "block.loading_first": "Las primeras secuencias están en camino.",
  "block.loading_all": "Se están cargando las secuencias, para que ninguna llegue tarde.",
  "block.ready_flash":
    "Cada secuencia aparece una vez, por un instante, tras una cuenta atrás de 3, 2, 1. Mantenga la vista donde están los números.",
  "block.ready_all":
    "Cada secuencia se muestra una sola vez, durante más o menos tiempo, después de una cuenta atrás. Mantenga la vista donde están los números.",
  "block.ready_some":
    "Cada secuencia aparece después de una cuenta atrás. Algunas se muestran una sola vez, durante más o menos tiempo; las demás permanecen hasta que usted responde. Mantenga la vista donde están los números.",
  "block.replaced": "El navegador no mostró bien esa secuencia. Aquí tiene otra.",
  "block.replaced_paid": "El navegador no mostró bien esa secuencia. Cuenta para su pago; aquí tiene otra.",
  "fit.cut": "La secuencia no cabe en la pantalla",
  "end.early_why": "Demasiadas secuencias no se pudieron mostrar como deberían. No es culpa suya.",
  "end.early_why_paid":
    "Demasiadas secuencias no se pudieron mostrar como deberían. No es culpa suya, y se le paga lo que ha hecho.",
  "end.part_why":
    "Demasiadas secuencias no se vieron como estaba previsto, por ejemplo porque la ventana estaba oculta, no estaba en pantalla completa o se modificó.",
  "test.needed":
    "Para participar en el estudio hay que acertar el {share} de las secuencias reales y el {share} de las falsas. Esto no dice nada de usted como trabajador o trabajadora, y la prueba se le paga.",
  "test.reals": "Secuencias reales",
  "test.fakes": "Secuencias falsas",
  "demo.nothing_sent":
    "Esta fue la demostración. No se ha guardado ni enviado nada, y el resultado de una persona con unas pocas secuencias dice poco.",
  "refused.took_part_before_help":
    "Participó en otro estudio nuestro. Este es para personas que no han visto antes secuencias de este tipo. No ha hecho nada mal.",
  "trouble.undecoded_now": "Una secuencia tarda mucho en abrirse.",
  "trouble.undecoded": "Una secuencia no se abre",
  "trouble.undecoded_help":
    "Su navegador ha recibido una secuencia, pero no consigue abrirla. Puede ayudar cerrar otros programas y pestañas.",
  "debrief.none_fooled": "Ninguna secuencia falsa le ha engañado",
  "debrief.fooled": "El {share} de las secuencias falsas le ha engañado",
  "debrief.own": "Tomó por reales el {fakes} de las secuencias falsas y por falsas el {reals} de las reales.",
  "debrief.made_by": "Las secuencias falsas las hizo «{model}».",
  "debrief.one_share":
    "Otra sesión con este modelo se equivocó en el {theirs} de todas las secuencias; usted, en cerca del {yours}.",
  "debrief.one_share_models":
    "Otra sesión con estos modelos se equivocó en el {theirs} de todas las secuencias; usted, en cerca del {yours}.",
  "debrief.others_share":
    "Las otras {n} sesiones con este modelo se equivocaron de media en el {theirs} de todas las secuencias; usted, en cerca del {yours}.",
  "debrief.others_share_models":
    "Las otras {n} sesiones con estos modelos se equivocaron de media en el {theirs} de todas las secuencias; usted, en cerca del {yours}.",
  "debrief.next_time": "La próxima vez las secuencias falsas pueden ser de otro tipo.",
  "debrief.table_share": "Con qué frecuencia se juzgaron mal las secuencias",
  "debrief.table_ms": "Cuánto tiempo hay que ver una secuencia para distinguir si es real o falsa",
  "debrief.these_pictures": "estas secuencias",
  "debrief.right_ones": "Secuencias acertadas: {n}",
  "debrief.all_right": "Acertó en todas las secuencias",
  "questions.stored":
    "Ha terminado con las secuencias, y sus respuestas sobre ellas están guardadas. Lo que ha ganado no depende de estas últimas preguntas.",
  "demo.part_of":
    "Esta demostración terminó antes de tiempo. Secuencias mostradas como estaba previsto y juzgadas: {n} de {total}. Su resultado vale solo para estas; para una puntuación hacen falta todas.",
  "demo.none_of":
    "Esta demostración terminó antes de que alguna de sus {total} secuencias se mostrara como estaba previsto, así que no hay nada que contar.",
  "flash.left_full_screen_help":
    "Los destellos necesitan toda la pantalla. No se ha perdido nada: la secuencia se sustituye por otra.",
  "flash.wrong": "Las secuencias no aparecen como deberían",
  "clip.play": "Reproducir",
  "clip.stop": "Parar",
  "clip.again": "Ver otra vez",
  "clip.again_left": "Ver otra vez (quedan {n})",
  "clip.key": "Espacio",
  "clip.note_loop":
    "Cada secuencia se reproduce sola, una y otra vez. Con el botón de debajo puede pararla y verla de nuevo. Puede responder en cuanto tenga su respuesta.",
  "clip.note_once": "Cada secuencia se reproduce sola, una vez. Véala hasta el final, por favor.",
  "clip.note_replays":
    "Cada secuencia se reproduce sola. Con el botón de debajo puede verla otra vez; número máximo de veces: {n}. Puede responder en cuanto tenga su respuesta.",
  "clip.note_calm":
    "Su dispositivo pide menos movimiento; por eso cada secuencia se reproduce solo cuando pulsa el botón de debajo.",
  "clip.unfit": "Las secuencias de vídeo no se pueden mostrar aquí",
  "clip.no_decoder":
    "Este navegador no puede mostrar estos vídeos fotograma a fotograma. Las versiones actuales de Chrome, Edge y Safari pueden, y Firefox en un ordenador. Abra el mismo enlace en uno de ellos, por favor.",
  "clip.no_codec":
    "Este navegador no puede abrir el tipo de vídeo que usa esta tarea. Abra el mismo enlace en otro navegador o en otro dispositivo, por favor.",
  "clip.no_memory":
    "Este dispositivo tiene muy poca memoria para los vídeos de esta tarea. Abra el mismo enlace en un ordenador, por favor.",
};
