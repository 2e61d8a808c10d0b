/** Irregular forms of English words, which a stemmer does not know by their endings: "wound" also finds "wind". */
import { folded } from './words.ts';

/** Each line has the forms of one word. */
const FORMS = `
become became
begin began begun
bend bent
bind bound
bite bit bitten
blow blew blown
break broke broken
bring brought
build built
burn burnt
buy bought
catch caught
child children
choose chose chosen
come came
deal dealt
do did done
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
fly flew flown
foot feet
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
know knew known
lay laid
lead led
leave left
lend lent
lose lost
make made
man men
mean meant
meet met
mouse mice
pay paid
person people
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
speak spoke spoken
spend spent
spin spun
stand stood
steal stole stolen
stick stuck
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
tooth teeth
understand understood
wake woke woken
wear wore worn
win won
wind wound
woman women
write wrote written
`;

const OTHERS: ReadonlyMap<string, readonly string[]> = new Map(
  FORMS.trim()
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap((forms) => forms.map((form) => [form, forms.filter((other) => other !== form)] as const)),
);

/** Returns the other forms of a word; most words have none. */
export const otherForms = (word: string): readonly string[] => OTHERS.get(folded(word)) ?? [];
