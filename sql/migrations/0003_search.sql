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

-- Stemming removes endings. It turns walked into walk, but it does not change went.
insert into word_form (stem, other)
with written as (
    select string_to_array(line, ' ') as forms from unnest(string_to_array(trim(both e'\n' from $forms$
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
    $forms$), e'\n')) as line
), stemmed as (
    select word, lexeme as stem
    from (select row_number() over () as word, forms from written) numbered,
         unnest(forms) as form, unnest(tsvector_to_array(to_tsvector('english', form))) as lexeme
)
select distinct one.stem, other.stem from stemmed one join stemmed other using (word)
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
