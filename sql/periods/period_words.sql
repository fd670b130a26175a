create function textrawl.period_words(language text) returns jsonb
language sql immutable strict parallel safe
begin atomic
    -- The function is immutable, so that a plan with a constant language calls it once in a session.
    with listed as (
        select $$ {
"english": {
    "-": "is used to;are used to;be used to;get used to;gets used to;got used to;a;an;is;are;has;have;his;her;their;my;our;with;at;for;by;not;no;he;she;they;it;lives;works;likes;was;were;will;be",
    "past": "born;was;were;had;did;ran;led;taught;held;sang;wrote;kept;went;spent;grew;flew;met;bought;sold;won;lost;got;gave;took;made;came;left;saw;swam;rode;drove;built;broke;fell;quit;became;began;paid;sent;found;drew;ate;drank;has been;been",
    "past~": "ed", "state": "lived;worked;studied;volunteered", "will": "will;is going to;are going to",
    "the": "the;day", "of": "of", "since": "since", "start": "as of;starting;starting from;beginning;effective;from now;as from",
    "from": "from;between", "to": "to;and", "until": "until;till;through;til", "in": "in;during;on", "last": "last;previous;past", "next": "next;coming", "this": "this",
    "ago": "ago", "perfect": "has been;have been;has lived;has worked;has had;has known;has played;has owned;has taught;has led;has studied;has kept;has rented;has run;has sung",
    "for": "for;for the past;for the last", "onward": "on;onward;onwards", "d-2": "the day before yesterday", "d-1": "yesterday;last night", "d1": "tomorrow", "d2": "the day after tomorrow", "d0": "this morning", "now": "today;tonight;this afternoon;this evening", "before": "before;prior to", "ask": "what;who;where;when;which;how;did;happened",
    "end": "end;the end", "edge": "beginning;the beginning;start;the start;mid;early;late;middle", "used": "used to;formerly",
    "begin": "is moving;are moving;relocates;moves;starts;begins;opens;joins;retires;becomes;switches;takes over",
    "veto": "if;unless;whenever;wants;hopes;plans;might;may;maybe;perhaps;would;could;should;says;said;told;thinks;believes;claims;expects;quotes;that;which;whose;where;who;expires;expire;ends;due;deadline;birthday",
    "about": "about;film;movie;book;novel;documentary;war;edition;album;song;exhibition;history;photos;letters;diaries;stamps;records;invoices;statements;report;reports;coins;magazines;volumes",
    "made": "built;published;released;recorded;founded;written;printed;shot;made;issued;painted;composed;dated", "money": "euros;euro;dollars;pounds;francs;people;words;pages;metres;meters;square;copies;members;calories;steps;km;miles;kg;edition;model;version;release;season;film;movie;novel;album",
    "m": "january|jan;february|feb;march|mar;april|apr;may;june|jun;july|jul;august|aug;september|sept|sep;october|oct;november|nov;december|dec",
    "w": "monday;tuesday;wednesday;thursday;friday;saturday;sunday;weekend", "s": "spring;summer;autumn|fall;winter", "u": "day|days;week|weeks;month|months;year|years",
    "f": "easter;pentecost|whitsun;christmas;new year|new year s|new year s day;new year s eve;halloween",
    "n": "one|a|first;two|a couple of;three|a few|several;four;five;six;seven;eight;nine;ten;eleven;twelve"},
"german": {
    "-": "ein;eine;einen;einem;einer;und;ist;sind;mit;bei;zu;auf;nicht;kein;keine;keinen;er;sie;es;ihr;sein;wohnt;arbeitet;für;nach;noch;das",
    "past": "hat;haben;habe;war;waren;hatte;hatten;wurde;wurden;ist;bin;sind;zog;ging;lief;fuhr;flog;sang;schrieb;las;kam;trug;schwamm;gewann;verlor;traf;bekam;begann;verließ;fand;stand;aß;trank", "past~": "te|ten",
    "aux": "hat;haben;habe;ist;bin;sind", "state": "gewohnt;gelebt;gearbeitet;studiert;wohnte;lebte;arbeitete;studierte", "will": "wird;werden",
    "the": "der;die;den;dem;des;zum;zur;jahr;jahre;dieses jahr;tag", "of": "von;vom", "since": "seit;seitdem", "start": "ab;von nun",
    "from": "zwischen", "to": "und", "until": "bis", "in": "in;im;am;an", "last": "letzten;letztem;letzter;letztes;letzte;vorigen;vorigem;voriger;voriges;vorige;vergangenen;vergangenem;vergangener", "next": "nächsten;nächstem;nächster;nächstes;nächste;kommenden;kommendem;kommender", "this": "diesen;diesem;dieser;dieses;diese",
    "ago": "vor", "d-2": "vorgestern", "d-1": "gestern", "d1": "morgen", "d2": "übermorgen", "d0": "heute morgen;heute früh;heute vormittag", "now": "heute;heute abend;heute nachmittag;heute mittag", "before": "vor", "ask": "was;wer;wo;wann;wie;wem;wen;gemacht;passiert",
    "end": "ende", "edge": "anfang;beginn;mitte", "used": "früher;einst;ehemals",
    "begin": "zieht;beginnt;startet;übernimmt;wechselt;öffnet;eröffnet;wird", "drop": "sich",
    "veto": "wenn;falls;ob;sofern;möchte;will;würde;könnte;sollte;vielleicht;hofft;plant;sagt;sagte;meint;glaubt;behauptet;erwartet;dass;welche;welcher;welches;läuft ab;endet;fällig;frist;geburtstag;zitiert",
    "about": "über;film;buch;roman;krieg;kriegs;ausgabe;album;lied;ausstellung;geschichte;fotos;briefe;tagebücher;briefmarken;rechnungen;münzen;hefte;bände",
    "made": "gebaut;gebautes;gebaute;erschienen;erschienene;erschienenen;veröffentlicht;gedruckt;gemalt;geschrieben;erbaut;erbautes;erbaute", "money": "euro;dollar;franken;mark;leute;seiten;meter;kilometer;kilo;kalorien;schritte;mitglieder;ausgabe;modell;version;uhr",
    "m": "januar|jan|jänner;februar|feb;märz|mär;april|apr;mai;juni|jun;juli|jul;august|aug;september|sept|sep;oktober|okt;november|nov;dezember|dez",
    "w": "montag;dienstag;mittwoch;donnerstag;freitag;samstag|sonnabend;sonntag;wochenende", "s": "frühling|frühjahr;sommer;herbst;winter", "u": "tag|tage|tagen;woche|wochen;monat|monate|monaten|monats;jahr|jahre|jahren|jahres",
    "f": "ostern;pfingsten;weihnachten;neujahr;silvester;halloween",
    "n": "einem|einer|einen|eine|ersten|erster;zwei;drei;vier;fünf;sechs;sieben;acht;neun;zehn;elf;zwölf"},
"french": {
    "-": "un;une;et;est;sont;avec;chez;pour;pas;ne;il;elle;ils;son;sa;ses;mon;ma;habite;travaille;dans;sur;des",
    "past": "a;ont;ai;était;étaient;avait;fut;est;sont", "past~": "ait|aient", "aux": "a;ont;ai;est;sont", "state": "habité;vécu;travaillé;étudié;habitait;vivait;travaillait", "will": "va;vont", "will~": "[aei]ra|[aei]ront|sera|seront|aura|auront|dra",
    "the": "le;la;les;l;au;aux;jour;du", "of": "de;d", "since": "depuis", "start": "à partir de;à partir du;à partir d;à compter de;à compter du;à compter d;dès",
    "from": "entre", "to": "à;au;et;jusque", "until": "jusqu;jusque", "in": "en;à", "last": "dernier;dernière;passé;passée;derniers;dernières;passés;passées", "next": "prochain;prochaine", "this": "ce;cet;cette",
    "ago": "il y a;y a", "d-2": "avant hier;avant-hier", "d-1": "hier", "d1": "demain", "d2": "après-demain", "d0": "ce matin", "now": "aujourd hui;ce soir;cet après midi;cet après-midi", "before": "avant;avant le", "ask": "qu;quoi;qui;que;où;quel;quelle;quand;comment;combien;fait",
    "end": "fin;la fin", "edge": "début;mi;le début", "used": "autrefois;jadis", "drop": "se;s;y",
    "begin": "déménage;commence;prend;ouvre;reprend;devient;emménage;rejoint",
    "veto": "si;sauf;veut;voudrait;espère;compte;peut-être;dit;pense;croit;affirme;attend;que;qui;dont;où;expire;échéance;anniversaire;termine;s il",
    "about": "film;livre;roman;guerre;édition;album;chanson;exposition;histoire;photos;lettres;timbres;factures;monnaies;documentaire;sur",
    "made": "construit;construite;publié;publiée;paru;parue;sorti;sortie;imprimé;émis;émises;écrit;écrite;peint;fabriqué;fabriquée", "money": "euros;euro;dollars;francs;personnes;pages;mètres;kilomètres;kilos;calories;pas;membres;édition;modèle",
    "m": "janvier|janv;février|févr;mars;avril|avr;mai;juin;juillet|juil;août|aout;septembre|sept;octobre|oct;novembre|nov;décembre|déc",
    "w": "lundi;mardi;mercredi;jeudi;vendredi;samedi;dimanche;week-end|weekend", "s": "printemps;été;automne;hiver", "u": "jour|jours;semaine|semaines;mois;an|ans|année|années",
    "f": "pâques;pentecôte;noël;nouvel an;saint-sylvestre;halloween|toussaint",
    "n": "un|une|premier|1er;deux;trois;quatre;cinq;six;sept;huit;neuf;dix;onze;douze"},
"spanish": {
    "-": "un;una;y;es;son;con;por;no;su;sus;mi;vive;trabaja;tiene;se;lo;le;para;está;come",
    "past": "fue;era;estuvo;tuvo;hizo;ha;fueron;estaba;había;dio;vino;puso;murió;leyó", "past~": "ó|aba|aban|ía|ían|aron|ieron|izo|ujo|uvo",
    "state": "vivió;trabajó;estudió;vivía;trabajaba;residió", "will": "va a;van a", "will~": "[aei]rá|[aei]rán|drá|drán",
    "the": "el;la;los;las;día;año;del", "of": "de;del", "since": "desde;desde hace;lleva;llevan", "start": "a partir de;a partir del", "from": "entre", "to": "a;al;y", "until": "hasta",
    "in": "en", "last": "pasado;pasada;último;última;pasados;pasadas;últimos;últimas", "next": "próximo;próxima;que viene;viene;entrante", "this": "este;esta;este mismo", "ago": "hace",
    "d-2": "anteayer;antes de ayer", "d-1": "ayer;anoche", "d1": "mañana", "d2": "pasado mañana", "d0": "esta mañana", "now": "hoy;esta tarde;esta noche", "before": "antes de;antes del", "ask": "qué;quién;cuál;cuándo;cómo;dónde;cuánto",
    "end": "fin;fines;finales;el fin;final;el final", "edge": "principios;comienzos;mediados;inicios", "used": "antes;antiguamente;solía", "drop": "se",
    "begin": "empieza;comienza;abre;asume;pasa;cambia;muda;traslada;entra",
    "veto": "si;quiere;querría;espera;piensa;planea;quizá;quizás;tal vez;dice;decía;dijo;cree;afirma;repite;que;quien;cuyo;donde;caduca;vence;plazo;cumpleaños;termina;acaba",
    "about": "sobre;película;libro;novela;guerra;edición;disco;canción;exposición;historia;fotos;cartas;sellos;facturas;monedas;documental",
    "made": "construido;construida;publicado;publicada;estrenado;estrenada;impreso;escrito;escrita;fabricado;fabricada;emitidos;rodada", "money": "euros;euro;dólares;pesos;personas;páginas;metros;kilómetros;kilos;calorías;pasos;miembros;edición;modelo",
    "m": "enero|ene;febrero|feb;marzo;abril|abr;mayo;junio|jun;julio|jul;agosto;septiembre|setiembre|sept;octubre|oct;noviembre|nov;diciembre|dic",
    "w": "lunes;martes;miércoles;jueves;viernes;sábado;domingo;fin de semana|finde", "s": "primavera;verano;otoño;invierno", "u": "día|días;semana|semanas;mes|meses;año|años",
    "f": "semana santa|pascua;pentecostés;navidad|navidades;año nuevo;nochevieja;halloween",
    "n": "un|una|primero;dos;tres;cuatro;cinco;seis;siete;ocho;nueve;diez;once;doce"},
"portuguese": {
    "-": "um;uma;e;é;são;com;por;não;seu;sua;mora;trabalha;tem;se;ele;ela;para;está;bebe;já;na;da",
    "past": "foi;era;esteve;teve;fez;foram;estava;tinha;deu;veio;pôs", "past~": "ou|eu|iu|ava|avam|aram|eram|iram|ia|iam",
    "state": "morou;viveu;trabalhou;estudou;morava;vivia;trabalhava;residiu", "will": "vai;vão;irá", "will~": "[aei]rá|[aei]rão",
    "the": "o;a;os;as;ao;à;dia;ano", "of": "de;do;da;dos;das", "since": "desde;desde há;faz", "start": "a partir de;a partir do;a partir da", "from": "entre", "to": "a;ao;à;e", "until": "até", "in": "em;no;na",
    "last": "passado;passada;último;última;passados;passadas;últimos;últimas", "next": "próximo;próxima;que vem;vem", "this": "este;esta;neste;nesta;deste;desta", "ago": "há;atrás", "d-2": "anteontem", "d-1": "ontem", "d1": "amanhã", "d2": "depois de amanhã", "d0": "esta manhã;hoje de manhã", "now": "hoje;esta tarde;esta noite;hoje à tarde", "before": "antes de;antes do;antes da", "ask": "que;quem;qual;quando;onde;fez;foi",
    "end": "fim;fins;final;finais", "edge": "início;princípio;começo;meados;inícios", "used": "antigamente;antes;outrora;costumava",
    "begin": "começa;abre;assume;muda;passa;entra;muda-se",
    "se": "se", "veto": "caso;quer;gostaria;espera;pensa;planeia;planeja;talvez;diz;disse;acha;afirma;que;quem;cujo;onde;expira;caduca;vence;prazo;aniversário;termina;acaba;número;rua;avenida",
    "about": "sobre;filme;livro;romance;guerra;edição;disco;canção;exposição;história;fotos;cartas;selos;faturas;moedas;documentário",
    "made": "construído;construída;publicado;publicada;lançado;lançada;impresso;escrito;escrita;fabricado;fabricada;emitidos", "money": "euros;euro;dólares;reais;pessoas;páginas;metros;quilómetros;quilos;calorias;passos;membros;edição;modelo",
    "m": "janeiro|jan;fevereiro|fev;março;abril|abr;maio;junho|jun;julho|jul;agosto;setembro;outubro;novembro|nov;dezembro|dez",
    "w": "segunda-feira|segunda;terça-feira|terça;quarta-feira|quarta;quinta-feira|quinta;sexta-feira|sexta;sábado;domingo;fim de semana|fim-de-semana|final de semana", "s": "primavera;verão;outono;inverno", "u": "dia|dias;semana|semanas;mês|meses;ano|anos",
    "f": "páscoa;pentecostes;natal;ano novo;véspera de ano novo;halloween",
    "n": "um|uma|primeiro;dois|duas;três;quatro;cinco;seis;sete;oito;nove;dez;onze;doze"},
"italian": {
    "-": "un;uno;una;e;è;sono;con;per;non;suo;sua;mio;abita;vive;lavora;di;si;che;gli;il;lo;ha;più",
    "past": "ha;hanno;è;era;aveva;fu;erano;avevano;nacque;sono", "past~": "ava|eva|iva|avano|evano|ivano|ò", "aux": "ha;hanno;è;sono", "state": "abitato;vissuto;lavorato;studiato;abitava;viveva;lavorava;studiava", "will~": "[aei]rà|[aei]ranno|sarà|saranno|drà|dranno|vrà",
    "the": "il;lo;la;l;i;le;gli;giorno;anno;mese di", "of": "di;del;dell;della;dello", "since": "da;dal;dall;dalla;dallo;sin dal;fin dal", "start": "a partire da;a partire dal;a partire dall;a partire dalla;a decorrere dal", "from": "tra;fra", "to": "a;al;all;alla;ad;e",
    "until": "fino a;fino al;fino alla;fino all;fino;sino a;sino al;sino alla", "in": "in;nel;nell;nella;a;ad;al", "last": "scorso;scorsa;passato;passata;ultimo;ultima;scorsi;scorse;ultimi;ultime", "next": "prossimo;prossima;ventura;venturo", "this": "questo;questa;quest",
    "ago": "fa", "d-2": "l altro ieri;ieri l altro", "d-1": "ieri;stanotte", "d1": "domani", "d2": "dopodomani", "d0": "stamattina;stamani;questa mattina", "now": "oggi;stasera;questo pomeriggio", "before": "prima di;prima del;prima dell", "ask": "cosa;chi;quando;come;com;dove;quale;fatto;successo",
    "end": "fine;la fine", "edge": "inizio;inizi;l inizio;metà", "used": "una volta;un tempo;in passato", "drop": "si;gli;ci",
    "begin": "inizia;comincia;apre;passa;trasferisce;diventa;assume",
    "veto": "se;vuole;vorrebbe;spera;pensa;intende;forse;dice;diceva;disse;crede;sostiene;che;cui;quale;dove;scade;scadenza;compleanno;termina;finisce;quando;via",
    "about": "su;sul;sulla;sui;sugli;sull;film;libro;romanzo;saggio;guerra;edizione;disco;canzone;mostra;storia;foto;lettere;francobolli;fatture;monete;documentario",
    "made": "costruito;costruita;pubblicato;pubblicata;uscito;uscita;stampato;scritto;scritta;fabbricato;emessi;girato", "money": "euro;dollari;lire;persone;pagine;metri;chilometri;chili;calorie;passi;membri;edizione;modello",
    "m": "gennaio|gen;febbraio|febb;marzo;aprile|apr;maggio|magg;giugno|giu;luglio|lug;agosto;settembre|sett;ottobre|ott;novembre|nov;dicembre|dic",
    "w": "lunedì;martedì;mercoledì;giovedì;venerdì;sabato;domenica;fine settimana|weekend|week-end", "s": "primavera;estate;autunno;inverno", "u": "giorno|giorni;settimana|settimane;mese|mesi;anno|anni",
    "f": "pasqua;pentecoste;natale;capodanno;san silvestro;halloween|ognissanti",
    "n": "un|uno|una|primo;due;tre;quattro;cinque;sei;sette;otto;nove;dieci;undici;dodici"},
"dutch": {
    "-": "een;het;is;heeft;zijn;met;voor;niet;hij;zij;ze;woont;werkt;wat;waar;wie", "past": "was;waren;had;hadden;heeft;deed;deden;ging",
    "the": "de;het;dag", "of": "van", "since": "sinds", "start": "vanaf", "from": "tussen", "to": "en", "until": "tot;tot en met", "in": "in;op",
    "last": "vorige;vorig;afgelopen;laatste", "next": "volgende;volgend;komende", "this": "deze;dit", "ago": "geleden", "before": "vóór",
    "d-2": "eergisteren", "d-1": "gisteren", "d1": "morgen", "d2": "overmorgen", "now": "vandaag;vanmorgen;vanochtend;vanavond",
    "end": "eind;einde", "edge": "begin;midden",
    "m": "januari|jan;februari|feb;maart|mrt;april|apr;mei;juni|jun;juli|jul;augustus|aug;september|sep;oktober|okt;november|nov;december|dec",
    "w": "maandag;dinsdag;woensdag;donderdag;vrijdag;zaterdag;zondag;weekend", "s": "lente|voorjaar;zomer;herfst|najaar;winter",
    "u": "dag|dagen;week|weken;maand|maanden;jaar|jaren", "f": "pasen;pinksteren;kerstmis|kerst;nieuwjaar;oudejaarsavond;halloween",
    "n": "een|één;twee;drie;vier;vijf;zes;zeven;acht;negen;tien;elf;twaalf"}
} $$::jsonb -> period_words.language as words
    ), word as (
        select spelling, exact, case when kind in ('m', 'n') then kind || lpad(place::text, 2, '0')
            when kind in ('w', 's', 'f', 'u') then kind || place else kind end as code
        from listed
        -- Writers omit accents. A word that the list has without accents keeps its own kinds.
        cross join lateral (
            select true, words union all select false, textrawl.strip_accents(words::text)::jsonb) given (exact, words)
        cross join lateral jsonb_each_text(given.words) l (kind, phrases)
        cross join lateral string_to_table(l.phrases, ';') with ordinality split (phrase, place)
        cross join lateral string_to_table(split.phrase, '|') as spelling
        where l.kind not like '%~'
    )
    select jsonb_object_agg(key, value) from (
        -- Of a word with several kinds, all stand in its value, joined by spaces.
        select spelling as key, coalesce(
            string_agg(distinct code, ' ') filter (where exact), string_agg(distinct code, ' ')) as value
        from word group by spelling
        union all
        select distinct split_part(spelling, ' ', 1) || ' ', '' from word where spelling like '% %'
        union all
        select kind, phrases from listed, jsonb_each_text(words) l (kind, phrases) where kind like '%~') entry;
end;

comment on function textrawl.period_words is
    'The words of a language by which read_period() finds the period that a text names: {word: kinds}. '
    'Example: select textrawl.period_words(''english'') -> ''since'';';
