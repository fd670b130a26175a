create function textrawl.portuguese_claims() returns jsonb
language sql immutable strict parallel safe
begin atomic
    select $$ {
"-": "o;os;as;seu;sua;seus;suas;meu;minha;nosso;nossa;ele;ela;eles;elas;eu;nós;se;me;agora;atualmente;ainda;hoje;muito;uns;umas;aproximadamente;também;mais;e;de;do;da;dos;das;que é;já;geralmente;sido;sendo;neste momento;novamente",
"indefinite": "um;uma",
"not": "não;nunca;jamais;sem;nenhum;nenhuma;deixou;parou",
"past": "era;eram;estava;antes;antigamente;antigo;antiga;costumava;foi;tinha;anteriormente",
"event": "correu;ganhou;perdeu;visitou;comprou;escreveu;conheceu;voou;viajou;pagou;vendeu;leu;comeu;viu;fez",
"be": "=;é;são;está;estão;sou;estou;ser;fica",
"has": "tem;têm;tenho",
"many": "possui;conhece;fala;usa;utiliza;joga;toca;lê;coleciona;apoia;precisa;oferece;vende;contém;inclui;ensina;estuda;aprende;trabalha em;segue;assiste;ouve;executa",
"home": "mora;moram;vive;vivem;reside;residem;mudou;mudei;moro;instalou",
"home<": "morava;morou;vivia;viveu;residia;cresceu",
"work": "trabalha;trabalham;trabalho;empregado;empregada;contratado;contratada",
"!work": "demitiu;demitido;demitida;despedido;despedida",
"+marriage": "casado;casada;noivo;noiva;casou",
"+meat": "come carne;comem carne;comer carne;carnívoro",
"+done": "terminado;terminada;resolvido;resolvida;concluído;concluída",
"!done": "pendente;inacabado;inacabada;em curso;em andamento;avariado;avariada;quebrado;quebrada",
"+accepted": "aceite;aceito;aceita;aprovado;aprovada",
"one:drink": "chá;café",
"job": "engenheiro;engenheira;desenvolvedor;desenvolvedora;programador;programadora;enfermeiro;enfermeira;advogado;advogada;consultor;consultora;professor;professora",
"attr": "cor;comida;filme;livro;endereço;morada;telefone;telemóvel;email;senha;palavra-passe;limite;aniversário;orçamento;versão;dono;dona;proprietário;proprietária;capitão;função;título;licença;porta;fuso;ramo;estado;tamanho;capital;sede;idade;salário;renda;aluguel;apelido;sobrenome;empresa;fornecedor;idioma;contacto;contato;local;treinador;treinadora;médico;médica;dentista;marido;esposa;mulher;parceiro;parceira;objetivo;temperatura;altura;comprimento;duração;hora;banco;editor;favorito;favorita;região;data;sala",
"id": "ticket;fatura;capítulo;passo;tarefa;episódio;caso;pergunta;cliente;exemplo;lição;pedido;número;nota;entrada;mensagem;linha;página;ficheiro;arquivo;teste;tema;projeto;facto;fato",
"@at": "em;no;na;nos;nas;a;à;ao;para;dentro;num;numa",
"@on": "sobre",
"@for": "por;pelo;pela",
"@with": "com;via",
"@since": "desde",
"@until": "até",
"@as": "como",
"@over": "em vez;ao invés",
"@near": "perto;junto",
"@after": "depois;após",
"@because": "porque;quando;mas;exceto;enquanto;que;embora",
"#": "0=zero;2=dois;2=duas;3=três;4=quatro;5=cinco;6=seis;7=sete;8=oito;9=nove;10=dez;11=onze;12=doze;20=vinte;100=cem",
"%": "m1=janeiro;m2=fevereiro;m3=março;m4=abril;m5=maio;m6=junho;m7=julho;m8=agosto;m9=setembro;m10=outubro;m11=novembro;m12=dezembro;d1=segunda;d2=terça;d3=quarta;d4=quinta;d5=sexta;d6=sábado;d7=domingo;d6=sábados;d7=domingos;y1=amanhã;s1=primavera;s2=verão;s3=outono;s4=inverno;n12=meio-dia;n0=meia-noite",
"ends": "vendeu;vendi;vendeu-se;deixou de;deixou;deixei;saiu de;saiu do;saiu da;largou;desistiu;cancelou;terminou;acabou;acabou com;concluiu;fechou;encerrou;quitou;trocou;trocou de;substituiu;demitiu-se;despediu-se;parou de;livrou-se;perdeu;abandonou;ja nao;nao … mais;mudou-se de;separou-se;divorciou-se;divorciou;extinguiu;resolvido;resolvida;resolveu;consertado;consertada;consertou;arranjado;arranjada;reparado;reparada;concluido;concluida;doou;pos fim;suspendeu;retirou;eliminou;ofereceu;cedeu;finalizou;finalizado;finalizada;rescindiu;rescindido;anulou;dissolveu;demoliram;desfez-se;desinstalou;migrou de;migrou do;arrumou;rompeu;abriu mao;despediu;saiu;vendido;vendida;corrigido;corrigida;corrigiu;faliu;atirou;pendurou;desfizeram;deitou fora;demitido;despedido;deu baixa",
"back": "devolveu;devolvi;devolvido;devolvida;restituiu;pagou … de volta;reembolsou;liquidou;pagou;trouxe … de volta;entregou",
"over": "voltou;recuperou;recuperado;recuperada;curado;curada;reformou-se;aposentou-se;aposentou;morreu;faleceu;nasceu;encontrou;arranjou;passou;obteve;tirou;conseguiu;casou-se;casou;casaram;noivou;formou-se;teve alta;expirou;dissolvido;dissolvida;adotado;adotada;chegou;assinou;foi … para;tornou-se;virou;passou a;pronto;pronta;acabado;acabada;fechado;fechada;cancelado;cancelada;mae;pai;deu a luz;eleito;eleita;nomeado;nomeada;substituido;substituida;melhorou;melhor;sarou;roubaram;roubado;queimou;comprada por;comprado por;promovido;promovida;estreou;teve;ganhou;recebeu;mudou;mudou-se;trocado;assumiu;arrendado;alugou;instalou-se;foi viver;foi morar;ja tem;livre;concluiu;ficou;agora;ja nao;abatido;abatida;operado;operada;despedida;renomeado;renomeada;rebatizado;rebatizada;diploma;vegano;vegana",
"now": "agora;atualmente;ja nao;nao … mais;tornou-se;virou;passou a;mudou-se;mudou;trocou;deixou de;parou de;desde;a partir de;renomeado;renomeada;divorciou-se;divorciado;divorciada;reformado;reformada;aposentado;aposentada;falecido;morreu;faleceu;novo;nova;concluido;concluida;ficou;largou;foi promovido;foi promovida",
"lent": "emprestou;emprestei;emprestado;emprestada;deve;pediu;alugou",
"also": "tambem;alem;outro;outra;segundo;segunda;parte;as vezes;quase;talvez;quer;pensa;planeia;planeja;gostaria;vai",
"the": "o;a;os;as;seu;sua;seus;suas;meu;minha;do;da;dos;das;ao;no;na;esse;este;aquele",
"idle": "ontem;anteontem;semana;semanas;mes;meses;ano;anos;passado;passada;fim;finalmente;noite;tarde;manha;verao;inverno;outono;primavera;completamente;definitivamente;dia;dias;tudo;toda;todo;ultimo;ultima;volta;ser"
} $$::jsonb;
end;

comment on function textrawl.portuguese_claims is
    'The Portuguese words by which disagreement() reads facts, as in english_claims(). claim_words() explains the kinds.';
