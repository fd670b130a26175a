-- Keyword search: words with the same meaning, and the number of facts that contain a word.

create table word_form (
    stem     text not null,
    other    text not null check (other <> stem),
    language text not null default 'english',
    primary key (language, stem, other)
);
comment on table word_form is 'Pairs of words with the same meaning but different stems, such as go and went. A search for one word also finds the other word.';
comment on column word_form.stem is 'Stem as word_lexemes(language, …) produces it.';
comment on column word_form.other is 'Another stem with the same meaning.';
comment on column word_form.language is 'Language of both stems, as in space.language.';

-- Words that mean the same but have different stems, in English, German, French and Spanish: forms of irregular verbs
-- (stemming turns walked into walk, but it does not change went), irregular plurals, numbers in words and in digits,
-- spellings, and months, which have their English names in the other languages. If the author of a fact gave a date, the
-- search document of the fact has the English name of the month.
insert into word_form (language, stem, other)
with written as (
    select language, string_to_array(line, ' ') as forms
    from (values ('english', $forms$
arise arose arisen
awake awoke awoken
bear borne
beat beaten
become became
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
dwell dwelt
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
lean leant
leap leapt
learn learnt
leave left
lend lent
lose lost
make made
mean meant
meet met
pay paid
prove proven
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
sew sewn
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spell spelt
spend spent
spill spilt
spin spun
spoil spoilt
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weave wove woven
weep wept
win won
write wrote written
child children
person people
man men
woman women
foot feet
tooth teeth
goose geese
mouse mice
wife wives
knife knives
life lives
half halves
shelf shelves
wolf wolves
thief thieves
leaf leaves
loaf loaves
one 1
two 2
three 3
four 4
five 5
six 6
seven 7
eight 8
nine 9
ten 10
eleven 11
twelve 12
thirteen 13
fourteen 14
fifteen 15
sixteen 16
seventeen 17
eighteen 18
nineteen 19
twenty 20
thirty 30
forty 40
fifty 50
hundred 100
thousand 1000
first 1st
second 2nd
third 3rd
january jan
february feb
april apr
august aug
september sept sep
october oct
november nov
december dec
tuesday tue tues
thursday thu thurs
friday fri
colour color
favourite favorite
flavour flavor
behaviour behavior
neighbour neighbor
honour honor
humour humor
labour labor
harbour harbor
centre center
theatre theater
litre liter
metre meter
fibre fiber
grey gray
cheque check
programme program
catalogue catalog
dialogue dialog
licence license
defence defense
organise organize
realise realize
analyse analyze
apologise apologize
recognise recognize
travelling traveling
travelled traveled
cancelled canceled
jewellery jewelry
aeroplane airplane
pyjamas pajamas
mum mom mother
dad father
bicycle bike
photograph photo
telephone phone
television tv
refrigerator fridge
examination exam
university uni
mathematics maths math
analysis analyses
crisis crises
thesis theses
hypothesis hypotheses
diagnosis diagnoses
synthesis syntheses
criterion criteria
phenomenon phenomena
matrix matrices
vertex vertices
index indices
$forms$), ('german', $forms$
beginnen beginnt begann begonnen
beißen beißt biss gebissen
biegen biegt bog gebogen
bieten bietet bot geboten
anbieten anbietet anbot angeboten
bitten bittet bat gebeten
bleiben bleibt blieb geblieben
brechen bricht brach gebrochen
abbrechen abgebrochen
brennen brennt brannte gebrannt
bringen bringt brachte gebracht
mitbringen mitbringt mitgebracht
verbringen verbringt verbrachte verbracht
denken denkt dachte gedacht
dürfen darf durfte
empfehlen empfiehlt empfahl empfohlen
entscheiden entscheidet entschied entschieden
essen isst aß gegessen
fahren fährt fuhr gefahren
abfahren abfährt abgefahren
fallen fällt fiel gefallen
gefallen gefällt gefiel
ausfallen ausfällt ausgefallen
fangen fängt fing gefangen
anfangen anfängt anfing angefangen
finden findet fand gefunden
stattfinden stattfindet stattfand stattgefunden
erfinden erfand erfunden
fliegen fliegt flog geflogen
fliehen flieht floh geflohen
fließen fließt floss geflossen
fressen frisst fraß gefressen
frieren friert fror gefroren
geben gibt gab gegeben
abgeben abgibt abgegeben
aufgeben aufgibt aufgab aufgegeben
ausgeben ausgibt ausgab ausgegeben
gehen geht ging gegangen
ausgehen ausgeht ausgegangen
gelten gilt galt gegolten
gewinnen gewinnt gewann gewonnen
gießen gießt goss gegossen
greifen greift griff gegriffen
haben hat hatte gehabt
halten hält hielt gehalten
behalten behält behielt
erhalten erhält erhielt
enthalten enthält enthielt
hängen hängt hing gehangen
heben hebt hob gehoben
heißen heißt hieß geheißen
helfen hilft half geholfen
kennen kennt kannte gekannt
klingen klingt klang geklungen
kommen kommt kam gekommen
ankommen ankommt ankam angekommen
bekommen bekommt bekam
können kann konnte gekonnt
laden lädt lud geladen
einladen einlädt einlud eingeladen
lassen lässt ließ gelassen
verlassen verlässt verließ
laufen läuft lief gelaufen
leiden leidet litt gelitten
leihen leiht lieh geliehen
ausleihen ausgeliehen
verleihen verleiht verlieh verliehen
lesen liest las gelesen
liegen liegt lag gelegen
lügen lügt log gelogen
meiden meidet mied gemieden
vermeiden vermeidet vermied vermieden
messen misst maß gemessen
mögen mag mochte gemocht
müssen muss musste gemusst
nehmen nimmt nahm genommen
aufnehmen aufnimmt aufnahm aufgenommen
teilnehmen teilnimmt teilnahm teilgenommen
übernehmen übernimmt übernahm übernommen
abnehmen abnimmt abnahm abgenommen
nennen nennt nannte genannt
pfeifen pfeift pfiff gepfiffen
raten rät riet geraten
reißen reißt riss gerissen
reiten reitet ritt geritten
rennen rennt rannte gerannt
riechen riecht roch gerochen
rufen ruft rief gerufen
anrufen anruft anrief angerufen
schaffen schafft schuf geschaffen
scheiden scheidet schied geschieden
scheinen scheint schien geschienen
erscheinen erscheint erschien erschienen
schieben schiebt schob geschoben
verschieben verschiebt verschob verschoben
schießen schießt schoss geschossen
schlafen schläft schlief geschlafen
einschlafen einschläft eingeschlafen
schlagen schlägt schlug geschlagen
vorschlagen vorschlägt vorschlug vorgeschlagen
schließen schließt schloss geschlossen
abschließen abschließt abschloss abgeschlossen
schneiden schneidet schnitt geschnitten
schreiben schreibt schrieb geschrieben
unterschreiben unterschreibt unterschrieb unterschrieben
beschreiben beschreibt beschrieb beschrieben
schreien schreit schrie geschrien
schweigen schweigt schwieg geschwiegen
schwimmen schwimmt schwamm geschwommen
sehen sieht sah gesehen
fernsehen fernsieht ferngesehen
sein ist war gewesen
senden sendet sandte gesandt
singen singt sang gesungen
sinken sinkt sank gesunken
sitzen sitzt saß gesessen
besitzen besitzt besaß besessen
spinnen spinnt spann gesponnen
sprechen spricht sprach gesprochen
besprechen bespricht besprach besprochen
versprechen verspricht versprach versprochen
springen springt sprang gesprungen
stechen sticht stach gestochen
stehen steht stand gestanden
aufstehen aufsteht aufstand aufgestanden
bestehen besteht bestand bestanden
verstehen versteht verstand verstanden
entstehen entsteht entstand entstanden
stehlen stiehlt stahl gestohlen
steigen steigt stieg gestiegen
umsteigen umsteigt umgestiegen
sterben stirbt starb gestorben
streichen streicht strich gestrichen
streiten streitet stritt gestritten
tragen trägt trug getragen
treffen trifft traf getroffen
treiben treibt trieb getrieben
treten tritt trat getreten
trinken trinkt trank getrunken
tun tut tat getan
verbieten verbietet verbot verboten
verbinden verbindet verband verbunden
vergessen vergisst vergaß
vergleichen vergleicht verglich verglichen
verlieren verliert verlor verloren
verschwinden verschwindet verschwand verschwunden
wachsen wächst wuchs gewachsen
waschen wäscht wusch gewaschen
weisen weist wies gewiesen
wenden wendet wandte gewandt
werben wirbt warb geworben
bewerben bewirbt bewarb beworben
werden wird wurde geworden
werfen wirft warf geworfen
wiegen wiegt wog gewogen
wissen weiß wusste gewusst
ziehen zieht zog gezogen
umziehen umzieht umzog umgezogen
ausziehen auszieht ausgezogen
einziehen einzieht eingezogen
zwingen zwingt zwang gezwungen
eins 1
zwei 2
drei 3
vier 4
fünf 5
sechs 6
sieben 7
acht 8
neun 9
zehn 10
elf 11
zwölf 12
zwanzig 20
dreißig 30
vierzig 40
fünfzig 50
hundert 100
tausend 1000
januar jan january
februar feb february
märz march
mai may
juni june
juli july
august aug
september sep
oktober okt october
november nov
dezember dez december
$forms$), ('french', $forms$
être est était sera été
avoir a avait aura eu
aller va vont allait ira allé
acquérir acquiert acquis
apprendre apprend apprenait appris
asseoir assied assis
atteindre atteint atteignait
attendre attend attendu
battre bat battait battu
boire boit boivent buvait boira bu
comprendre comprend comprenait compris
conduire conduit conduisait
connaître connaît connaissait connu
construire construit construisait
coudre coud cousait cousu
courir court courait courra couru
couvrir couvre couvrait couvert
craindre craint craignait
croire croit croyait cru
croître croît croissait
cuire cuit cuisait
décevoir déçoit déçu
découvrir découvre découvert
descendre descend descendu
détruire détruit détruisait
devenir devient devenait deviendra devenu
devoir doit doivent devait devra dû
dire dit disent disait
dormir dort dormait dormi
écrire écrit écrivent écrivait
élire élit élu
entendre entend entendu
envoyer envoie enverra envoyé
éteindre éteint éteignait
faire fait font faisait fera
falloir faut fallait faudra fallu
fuir fuit fuyait
inscrire inscrit inscrivait
interdire interdit
joindre joint joignait
lire lit lisent lisait lu
mettre met mettait mis
mourir meurt mourait mourra mort
naître naît naissait né
nuire nuit nuisait
obtenir obtient obtenait obtenu
offrir offre offrait offert
ouvrir ouvre ouvrait ouvert
paraître paraît paru
partir part partait parti
peindre peint peignait
perdre perd perdait perdu
permettre permet permettait permis
plaindre plaint plaignait
plaire plaît plaisait plu
pleuvoir pleut pleuvait
pouvoir peut peuvent pouvait pourra pu
prendre prend prennent prenait pris
prévoir prévoit prévoyait prévu
produire produit produisait
promettre promet promis
recevoir reçoit reçoivent recevait recevra reçu
rendre rend rendait rendu
répondre répond répondait répondu
résoudre résout résolu
rire rit riait
savoir sait savent savait saura su
sentir sent sentait senti
servir sert servait servi
sortir sort sortait sorti
souffrir souffre souffrait souffert
souvenir souvient souvenait souvenu
suivre suit suivait suivi
surprendre surprend surpris
tenir tient tiennent tenait tiendra tenu
traduire traduit traduisait
vaincre vainc vaincu
valoir vaut valait vaudra valu
vendre vend vendait vendu
venir vient viennent venait viendra venu
revenir revient revenait revenu
vêtir vêt vêtu
vivre vit vivent vivait vécu
voir voit voient voyait verra vu
vouloir veut veulent voulait voudra voulu
appeler appelle appelait
jeter jette jetait
acheter achète achetait
payer paie payait
essayer essaie essayait
employer emploie employait
œil yeux
cheval chevaux
journal journaux
animal animaux
travail travaux
hôpital hôpitaux
général généraux
canal canaux
local locaux
monsieur messieurs
madame mesdames
beau belle beaux
nouveau nouvelle nouveaux
vieux vieille vieil
blanc blanche
long longue
sec sèche
doux douce
faux fausse
actif active
un 1
deux 2
trois 3
quatre 4
cinq 5
six 6
sept 7
huit 8
neuf 9
dix 10
onze 11
douze 12
vingt 20
trente 30
quarante 40
cinquante 50
cent 100
mille 1000
janvier january
février february
mars march
avril april
mai may
juin june
juillet july
août august
septembre september
octobre october
novembre november
décembre december
$forms$), ('spanish', $forms$
ser es era fue sido
estar está estaba estuvo
haber ha había hubo hay
ir va iba fue ido
tener tiene tenía tuvo tendrá
hacer hace hacía hizo hará hecho
decir dice decía dijo dirá dicho
poder puede podía pudo podrá podido
poner pone ponía puso pondrá puesto
querer quiere quería quiso querrá querido
saber sabe sabía supo sabrá sabido
venir viene venía vino vendrá venido
ver ve veía vio visto
dar da daba dio dado
salir sale salía salió saldrá
traer trae traía trajo
conducir conduce condujo
producir produce produjo
traducir traduce tradujo
andar anda anduvo
caber cabe cupo
caer cae cayó caído
leer lee leyó leído
oír oye oyó oído
creer cree creyó creído
construir construye construyó
incluir incluye incluyó
sustituir sustituye sustituyó
huir huye huyó
pedir pide pidió pedido
despedir despide despidió
servir sirve sirvió
seguir sigue siguió seguido
conseguir consigue consiguió
vestir viste vistió
repetir repite repitió
medir mide midió
elegir elige eligió
corregir corrige corrigió
sentir siente sintió
mentir miente mintió
preferir prefiere prefirió preferido
sugerir sugiere sugirió
divertir divierte divirtió
dormir duerme durmió dormido
morir muere murió muerto
jugar juega jugó jugado
contar cuenta contó contado
encontrar encuentra encontró encontrado
mostrar muestra mostró mostrado
recordar recuerda recordó recordado
soñar sueña soñó soñado
volar vuela voló volado
costar cuesta costó costado
probar prueba probó probado
aprobar aprueba aprobó
almorzar almuerza almorzó
acostar acuesta acostó
mover mueve movió movido
volver vuelve volvió vuelto
devolver devuelve devolvió devuelto
resolver resuelve resolvió resuelto
llover llueve llovió
doler duele dolió
soler suele solía
pensar piensa pensó pensado
empezar empieza empezó empezado
comenzar comienza comenzó
cerrar cierra cerró cerrado
calentar calienta calentó calentado
sentar sienta sentó sentado
despertar despierta despertó
recomendar recomienda recomendó
perder pierde perdió perdido
entender entiende entendió entendido
encender enciende encendió
defender defiende defendió
atender atiende atendió
nacer nace nació nacido
conocer conoce conoció conocido
crecer crece creció
parecer parece pareció
escribir escribe escribió escrito
describir describe describió descrito
abrir abre abrió abierto
cubrir cubre cubrió cubierto
descubrir descubre descubrió descubierto
romper rompe rompió roto
freír fríe frió frito
reír ríe rió
buscar busca buscó busque
tocar toca tocó toque
pagar paga pagó pague
llegar llega llegó llegue
un uno una 1
dos 2
tres 3
cuatro 4
cinco 5
seis 6
siete 7
ocho 8
nueve 9
diez 10
once 11
doce 12
veinte 20
treinta 30
cuarenta 40
cincuenta 50
cien ciento 100
mil 1000
enero january
febrero february
marzo march
abril april
mayo may
junio june
julio july
agosto august
septiembre september
octubre october
noviembre november
diciembre december
$forms$)) list(language, lines), unnest(string_to_array(trim(both e'\n' from lines), e'\n')) as line
), stemmed as (
    -- Do the same as word_lexemes(): keep the accents for the stemmer, and remove them from its result.
    select distinct language, word, normalize(regexp_replace(normalize(lexeme, nfd), '[\u0300-\u036f]', '', 'g'), nfc) as stem
    from (select row_number() over () as word, language, forms from written) numbered, unnest(forms) as form,
         unnest(array[form, regexp_replace(normalize(form, nfd), '[\u0300-\u036f]', '', 'g')]) spelling,
         unnest(tsvector_to_array(to_tsvector(language::regconfig, replace(replace(spelling, 'ß', 'ss'), 'œ', 'oe')))) as lexeme
)
select distinct one.language, one.stem, other.stem from stemmed one join stemmed other using (language, word)
where one.stem <> other.stem;

create table lexeme (
    space_id  integer not null references space on delete cascade,
    word      text not null,
    frequency integer not null check (frequency > 0),
    primary key (space_id, word)
);
comment on table lexeme is 'Number of facts of a space that contain a word, at the last refresh_search_statistics(). Each space has its own numbers, so that the scores of one space reveal nothing about another space.';
comment on column lexeme.space_id is 'Space of the counted facts.';
comment on column lexeme.word is 'Stem as the text index stores it.';
comment on column lexeme.frequency is 'Number of facts of the space that contain the stem.';
-- A search in many spaces looks up each word in all these spaces.
create index lexeme_word_idx on lexeme (word, space_id) include (frequency);

create table search_statistics (
    singleton    boolean primary key default true check (singleton),
    facts        double precision not null,
    refreshed_at timestamptz not null default now()
);
comment on table search_statistics is 'Number of all facts at the last refresh_search_statistics().';
comment on column search_statistics.singleton is 'Always true, because the table has one row.';
comment on column search_statistics.facts is 'Number of facts.';
comment on column search_statistics.refreshed_at is 'When the facts were counted.';

create table space_statistics (
    space_id  integer primary key references space on delete cascade,
    facts     bigint not null,
    coherence real
);
comment on table space_statistics is 'Number of facts of each space at the last refresh_search_statistics(). Search compares the query with all vectors of a small space and uses the vector index for a large space.';
comment on column space_statistics.space_id is 'Space of the counted facts.';
comment on column space_statistics.facts is 'Number of facts in the space.';
comment on column space_statistics.coherence is 'Result of order_coherence() for the space. If it is below 1.2, the order of the facts has no meaning, and search ignores neighbours. Null: the space has too few facts.';

create table document_rebuild (
    space_id         integer primary key references space on delete cascade,
    former_languages text[] not null,
    reflections      boolean not null default false,
    reached          uuid,
    started_at       timestamptz not null default now()
);
comment on table document_rebuild is 'Spaces whose language changed, until rebuild_documents() has made all their search documents anew. Until then, a search uses the stems of the former languages and of the new language.';
comment on column document_rebuild.space_id is 'The space.';
comment on column document_rebuild.former_languages is 'Languages in which some search documents of the space may still be.';
comment on column document_rebuild.reflections is 'True: all facts have new search documents, and the reflections follow.';
comment on column document_rebuild.reached is 'Last fact (or reflection) that got a new search document. Null: no fact (or reflection) has one yet.';
comment on column document_rebuild.started_at is 'When the language changed.';
