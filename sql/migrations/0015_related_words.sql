-- Words of everyday questions, each with words of the facts that answer them: a question for a job also finds works. Unlike
-- forms of a word, they count in one direction: a question for children finds daughter, but not the other way round.
insert into word_form (language, stem, other)
with written as (
    select split_part(line, ': ', 1) as asked, string_to_array(split_part(line, ': ', 2), ' ') as told
    from unnest(string_to_array(trim(both e'\n' from $related$
acquire: buys bought
address: lives street
afraid: fear scared
alcohol: beer wine drinks
allergic: allergy allergies
allergy: allergic
annual: yearly year
apartment: flat
appointment: check-up visit
author: wrote written
beef: meat vegetarian vegan
begin: start
bicycle: bike
big: large size
bike: bicycle
bill: invoice
birth: born birthday
birthday: born
birthplace: born
born: birthday birth
boss: manager manages leads head
boy: son
bug: defect issue error
build: created made
buy: purchase acquired
call: phone named
cappuccino: coffee espresso
car: drives vehicle
career: job profession
charge: leads manages head responsible
child: son daughter boy girl
client: customer
code: password
coffee: cappuccino espresso latte
colleague: coworker teammate
college: university
company: firm employer
contact: phone call calls message email
cook: chef
cost: price euros dollars paid pay
couch: sofa
create: made built
creator: created
customer: client
dad: father
daily: day
dairy: milk cheese lactose
database: postgres postgresql mysql sqlite
daughter: girl child
deadline: due until
deliver: ships shipment
deploy: release
diet: eats vegetarian vegan
dislike: hates
doctor: physician
dog: puppy
downtime: down outage
drink: drinks coffee tea
drive: car
due: deadline
earn: salary
eat: food diet allergic vegetarian vegan
editor: ide
email: mail
employer: company firm works
end: stop
error: failure bug
espresso: coffee
exercise: running runs gym swims training sport
father: dad
favourite: prefers likes loves
fear: afraid scared
film: movie
firm: company
fix: repair
flat: apartment
flight: flying plane
fly: flight plane
food: eat eats diet meal
found: founder
founder: founded
fridge: refrigerator
fruit: apple banana orange
girl: daughter
glasses: spectacles
govern: steers governs runs
guarantee: warranty
hate: dislikes
head: leads leader
heating: boiler heater
hobby: enjoys likes
holiday: vacation trip
home: lives house
house: home
hurt: injured broke pain
husband: married spouse
ill: sick
injury: injured broke hurt
internet: wifi
invoice: bill
issue: bug problem
job: work works profession
journey: trip travel
kid: child son daughter boy girl
language: speaks languages written
large: big
latte: coffee
launch: release start
lawyer: attorney
lead: head leads leader manages
leader: leads head
live: moved home resides
living: lives
made: created built
mail: email
make: created built
manager: manages boss head
married: husband wife spouse wedding
marry: husband wife spouse wedding
meal: dinner lunch breakfast
meat: vegetarian vegan steak beef pork chicken
medication: medicine pills tablets
medicine: pills tablets medication
meeting: call standup
milk: dairy lactose
mom: mother
mother: mom mum
movie: film
nationality: citizen
neighbour: neighbor next-door
nut: walnuts peanuts almonds hazelnuts
occupation: work works job profession
offsite: retreat
often: every times
organize: organises holds
outage: down downtime
own: owner
owner: owns
parent: mother father mom dad
password: passcode code
pay: payment rent salary costs
pet: dog cat
phone: call telephone number
photo: picture
picture: photo
plan: intends wants
plane: flight flying
pork: meat vegetarian vegan
prefer: favourite likes
price: costs euros dollars
problem: issue
profession: work works job
purchase: bought buys
quit: stop
rail: train
reach: phone call calls message email
reason: because
release: deploy deployment launch
rent: lease
repair: fix
reside: lives home
retire: pension
retreat: offsite
salary: earns pay
scared: afraid fear
school: class
seafood: fish shrimp
sell: acquired
ship: delivers
shop: store
sibling: brother sister
sick: ill
size: large big
sofa: couch
sold: acquired
son: boy child
sport: running runs gym swims training plays exercise
spouse: husband wife married
standup: meeting
start: begin began
steak: meat beef vegetarian vegan
stop: quit end
study: studies university student degree
supplier: supplies vendor
teach: teacher
teacher: teaches
television: tv
train: rail
training: exercise gym
travel: trip journey
trip: travel vacation holiday journey
tv: television
university: college
vacation: holiday trip
vegan: meat
vegetarian: meat
vehicle: car drives
vendor: supplier
warranty: guarantee
weekly: week
wife: married spouse
wifi: internet
write: author
yearly: year annual
$related$), e'\n')) as line
)
select distinct 'english', question.stem, form.stem
from written
cross join unnest(tsvector_to_array(to_tsvector('english', asked))) one (stem)
cross join lateral (
    select one.stem union all select f.other from word_form f where f.language = 'english' and f.stem = one.stem) question
cross join unnest(told) word
cross join unnest(tsvector_to_array(to_tsvector('english', word))) other (stem)
cross join lateral (
    select other.stem union all select f.other from word_form f where f.language = 'english' and f.stem = other.stem) form
where question.stem <> form.stem
on conflict do nothing;
comment on table word_form is 'Pairs of words: a search for the first word also finds the second. They are forms with different stems, such as go and went, or a word of questions and a word of answers, such as job and work.';
comment on column word_form.other is 'Stem of a form of the word, or of a word that answers it.';
