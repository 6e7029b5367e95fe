// @ts-check
/** The texts of clip_en.js in Portuguese. */

/** @type {Record<string, string>} */
export const texts = {
  "consent.text":
    "Você está recebendo um convite para participar de um estudo sobre o quanto parecem reais as sequências de vídeo feitas por computador.\n\nVocê verá sequências, uma de cada vez, e dirá de cada uma se é uma sequência real ou uma feita por um computador. Não é preciso saber nada de antemão.\n\nGuardamos as suas respostas, quanto tempo levaram, se você saiu desta página nesse meio-tempo e dados técnicos sobre a sua tela. Não perguntamos o seu nome. As respostas são usadas para pesquisa e podem ser publicadas sem nada que identifique você.\n\nA participação é voluntária. Você pode parar a qualquer momento fechando esta página. Você recebe um link com o qual pode cancelar a participação, na hora ou mais tarde: as suas respostas são apagadas, e o que você ganhou é pago mesmo assim.",
  "consent.text.tournament":
    "Você está recebendo um convite para participar de um estudo sobre o quanto parecem reais as sequências de vídeo feitas por computador.\n\nVocê verá sequências, duas de cada vez, e dirá qual das duas parece mais real. Não é preciso saber nada de antemão.\n\nGuardamos as suas respostas, quanto tempo levaram, se você saiu desta página nesse meio-tempo e dados técnicos sobre a sua tela. Não perguntamos o seu nome. As respostas são usadas para pesquisa e podem ser publicadas sem nada que identifique você.\n\nA participação é voluntária. Você pode parar a qualquer momento fechando esta página. Você recebe um link com o qual pode cancelar a participação, na hora ou mais tarde: as suas respostas são apagadas, e o que você ganhou é pago mesmo assim.",
  "consent.text.pair":
    "Você está recebendo um convite para participar de um estudo sobre o quanto parecem reais as sequências de vídeo feitas por computador.\n\nVocê verá pares de sequências, lado a lado: uma sequência é real, a outra foi feita por um computador. Você dirá qual é a real. Não é preciso saber nada de antemão.\n\nGuardamos as suas respostas, quanto tempo levaram, se você saiu desta página nesse meio-tempo e dados técnicos sobre a sua tela. Não perguntamos o seu nome. As respostas são usadas para pesquisa e podem ser publicadas sem nada que identifique você.\n\nA participação é voluntária. Você pode parar a qualquer momento fechando esta página. Você recebe um link com o qual pode cancelar a participação, na hora ou mais tarde: as suas respostas são apagadas, e o que você ganhou é pago mesmo assim.",
  "check.instruction": "Nesta, por favor, pressione “{answer}”, não importa o que a sequência mostre.",
  "practice.intro":
    "Você começa com um treino. Sequências: {n}. Depois de cada resposta, você fica sabendo se ela estava certa.",
  "practice.offer.count": "{n} sequências no início, que não contam",
  "real_or_fake.half":
    "Você verá sequências de vídeo, uma de cada vez. Metade delas é real. A outra metade foi feita por um computador: são falsas. Elas vêm em ordem aleatória.",
  "real_or_fake.chance":
    "Você verá sequências de vídeo, uma de cada vez. Cada uma é real ou foi feita por um computador, e então é falsa. As duas coisas são igualmente prováveis a cada vez, não importa o que veio antes.",
  "real_or_fake.press":
    "Para cada sequência, pressione {fake_key} se for falsa ou {real_key} se for real, ou use os botões.",
  "real_or_fake.tap": "Para cada sequência, toque em “{fake}” ou “{real}”.",
  "real_or_fake.shares_half":
    "Metade de todas as sequências é real, e as outras são falsas. Por favor, dedique um momento a cada uma.",
  "real_or_fake.shares_chance":
    "Cerca de metade de todas as sequências é real, e as outras são falsas. Por favor, dedique um momento a cada uma.",
  "more_real.pairs":
    "Você verá duas sequências de vídeo de cada vez, lado a lado. Diga de cada par qual das duas sequências parece mais real para você. Nenhuma resposta é certa ou errada.",
  "more_real.sides":
    "Qual sequência fica à esquerda é questão de acaso. Por favor, dedique um momento a cada par.",
  "which_is_real.half":
    "Você verá duas sequências de vídeo por vez, lado a lado. Uma delas é real. A outra foi feita por um computador: é falsa. A real está à esquerda tantas vezes quanto à direita, em ordem aleatória.",
  "which_is_real.chance":
    "Você verá duas sequências de vídeo por vez, lado a lado. Uma delas é real. A outra foi feita por um computador: é falsa. A cada vez, é igualmente provável que a real esteja à esquerda ou à direita, não importa o que veio antes.",
  "which_is_real.shares_half":
    "A sequência real está à esquerda tantas vezes quanto à direita. Por favor, dedique um momento a cada par.",
  "which_is_real.shares_chance":
    "A sequência real está à esquerda mais ou menos tantas vezes quanto à direita. Por favor, dedique um momento a cada par.",
  "picture.to_judge": "A sequência a avaliar",
  "picture.progress": "Sequência {n} de {total}",
  "picture.part_done":
    "A parte {part} de {parts} está concluída: {answered} de {total} sequências. Todas as suas respostas estão guardadas.",
  "pictures.to_judge": "As sequências a avaliar, lado a lado: {n}",
  "pictures.ready_all":
    "As sequências são mostradas uma única vez, ao mesmo tempo, por mais ou menos tempo, depois de uma contagem. Mantenha os olhos onde estão os números, entre as sequências.",
  "pictures.ready_some":
    "As sequências vêm ao mesmo tempo, depois de uma contagem. Algumas são mostradas uma única vez, por mais ou menos tempo; as outras ficam até você responder. Mantenha os olhos onde estão os números, entre as sequências.",
  "offer.pictures": "Sequências",
  "offer.picture_count": "{n} sequências de vídeo",
  "offer.picture_count_parts": "{n} sequências de vídeo, em {parts} partes com pausas",
  "offer.pairs": "Pares de sequências",
  "offer.flashes": "Nesta tarefa, as sequências piscam na tela",
  "offer.flashes_risk":
    "As sequências aparecem por uma fração de segundo, seguidas de padrões rápidos. Se você tem epilepsia, ou se luzes piscantes causam mal-estar, por favor não participe.",
  "offer.less_motion":
    "O seu aparelho está configurado para mostrar menos movimento. Esta tarefa não pode ser feita sem sequências que piscam, por isso talvez você prefira não participar.",
  "block.loading_first": "As primeiras sequências estão a caminho.",
  "block.loading_all": "As sequências estão sendo carregadas, para que nenhuma chegue atrasada.",
  "block.ready_flash":
    "Cada sequência pisca uma vez, após uma contagem de 3, 2, 1. Mantenha os olhos onde estão os números.",
  "block.ready_all":
    "Cada sequência é mostrada uma única vez, por mais ou menos tempo, depois de uma contagem. Mantenha os olhos onde estão os números.",
  "block.ready_some":
    "Cada sequência vem depois de uma contagem. Algumas são mostradas uma única vez, por mais ou menos tempo; as outras ficam até você responder. Mantenha os olhos onde estão os números.",
  "block.replaced": "Essa sequência não foi exibida corretamente pelo navegador. Aqui está outra.",
  "block.replaced_paid":
    "Essa sequência não foi exibida corretamente pelo navegador. Ela conta para o seu pagamento; aqui está outra.",
  "fit.cut": "A sequência não cabe na tela",
  "end.early_why": "Sequências demais não puderam ser exibidas como deveriam. A culpa não é sua.",
  "end.early_why_paid":
    "Sequências demais não puderam ser exibidas como deveriam. A culpa não é sua, e o que você fez é pago.",
  "end.part_why":
    "Sequências demais não foram vistas como previsto, por exemplo porque a janela estava oculta, não estava em tela cheia ou foi alterada.",
  "test.needed":
    "Para participar do estudo, é preciso acertar {share} das sequências reais e {share} das falsas. Isso não diz nada sobre o seu trabalho, e o teste é pago.",
  "test.reals": "Sequências reais",
  "test.fakes": "Sequências falsas",
  "demo.nothing_sent":
    "Esta foi a demonstração. Nada foi guardado nem enviado, e o resultado de uma pessoa com poucas sequências diz pouco.",
  "refused.took_part_before_help":
    "Você participou de outro estudo nosso. Este é para pessoas que ainda não viram sequências como estas. Você não fez nada de errado.",
  "trouble.undecoded_now": "Uma sequência está demorando muito para abrir.",
  "trouble.undecoded": "Uma sequência não abre",
  "trouble.undecoded_help":
    "O seu navegador recebeu uma sequência, mas não consegue abri-la. Fechar outros programas e abas pode ajudar.",
  "debrief.none_fooled": "Nenhuma sequência falsa enganou você",
  "debrief.fooled": "{share} das sequências falsas enganaram você",
  "debrief.flashes":
    "A maioria das sequências foi mostrada por {ms}: respostas certas encurtavam o tempo, erradas o alongavam.",
  "debrief.own": "Você tomou {fakes} das sequências falsas por reais e {reals} das reais por falsas.",
  "debrief.made_by": "As sequências falsas foram feitas por “{model}”.",
  "debrief.one_share":
    "Outra sessão com este modelo errou em {theirs} de todas as sequências; você, em cerca de {yours}.",
  "debrief.one_share_models":
    "Outra sessão com estes modelos errou em {theirs} de todas as sequências; você, em cerca de {yours}.",
  "debrief.others_share":
    "As outras {n} sessões com este modelo erraram em média em {theirs} de todas as sequências; você, em cerca de {yours}.",
  "debrief.others_share_models":
    "As outras {n} sessões com estes modelos erraram em média em {theirs} de todas as sequências; você, em cerca de {yours}.",
  "debrief.next_time": "Da próxima vez, as sequências falsas podem ser de outro tipo.",
  "debrief.table_share": "Com que frequência as sequências foram avaliadas errado",
  "debrief.table_ms": "Quanto tempo é preciso ver uma sequência para distinguir se é real ou falsa",
  "debrief.these_pictures": "estas sequências",
  "debrief.right_ones": "Sequências que você acertou: {n}",
  "debrief.all_right": "Você acertou todas as sequências",
  "questions.stored":
    "Você terminou as sequências, e as suas respostas sobre elas estão guardadas. O que você ganhou não depende destas últimas perguntas.",
  "demo.part_of":
    "Esta demonstração terminou antes da hora. Sequências exibidas como planejado e avaliadas: {n} de {total}. O seu resultado vale só para estas; uma pontuação precisa de todas.",
  "demo.none_of":
    "Esta demonstração terminou antes que uma das suas {total} sequências fosse exibida como planejado; por isso não há nada para contar.",
  "demo.without_flashes_help":
    "Sem sequências piscando, o tempo exato não importa: isso funciona em qualquer computador e também no celular.",
  "demo.without_flashes": "Jogar sem sequências piscando",
  "flash.left_full_screen_help":
    "As sequências que piscam precisam da tela inteira. Nada se perdeu: a sequência é substituída por outra.",
  "flash.wrong": "As sequências não estão piscando como deveriam",
  "clip.play": "Reproduzir",
  "clip.stop": "Parar",
  "clip.again": "Ver de novo",
  "clip.again_left": "Ver de novo (restam {n})",
  "clip.key": "Espaço",
  "clip.note_loop":
    "Cada sequência é reproduzida sozinha, repetidamente. Com o botão abaixo dela, você pode parar e ver de novo. Pode responder assim que tiver a sua resposta.",
  "clip.note_once": "Cada sequência é reproduzida sozinha, uma vez. Por favor, assista até o fim.",
  "clip.note_replays":
    "Cada sequência é reproduzida sozinha. Com o botão abaixo dela, você pode ver de novo; número máximo de vezes: {n}. Pode responder assim que tiver a sua resposta.",
  "clip.note_calm":
    "O seu aparelho pede menos movimento; por isso, cada sequência só é reproduzida quando você pressiona o botão abaixo dela.",
  "clip.unfit": "As sequências de vídeo não podem ser exibidas aqui",
  "clip.no_decoder":
    "Este navegador não consegue exibir estes vídeos quadro a quadro. As versões atuais do Chrome, do Edge e do Safari conseguem, e o Firefox no computador. Por favor, abra o mesmo link em um deles.",
  "clip.no_codec":
    "Este navegador não consegue abrir o tipo de vídeo que esta tarefa usa. Por favor, abra o mesmo link em outro navegador ou em outro aparelho.",
  "clip.no_memory":
    "Este aparelho tem pouca memória para os vídeos desta tarefa. Por favor, abra o mesmo link em um computador.",
};
