"""Words of everyday English that name a concept in a list, and mostly something else in a text.

*Cold*, *growth* or *sugar* in a list of complaints is a disease. In a text it is more often the
weather, a hormone or a food. The table has words whose usual sense in running text is none of
medicine; it was written for canonym, over the everyday names and over the one-word synonyms of
public terminologies, by how common a word is in English.
"""

from __future__ import annotations

import functools

from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.text import STRONG, normalise

_WORDS = """
    abstract accent access account act activity add aid air alien alternative amount anchor
    angle appointment arc arch area arrested aspiration attack attacked attitude attraction
    award axis back band bar base bay beam bear bearing bed belt bench bend berry bill bite
    blank blast blind block board boat boil bolt bomb bond border bore bottle bottom bound bow
    bowl box brace bracket branch brand bread break breaking bridge broken brush bubble bucket
    bud buffer build bump bundle burning business butterfly button cable cage calculation calf
    call callous cap capital car card care carriage case cast catch cause cavity chain challenge
    chance change channel character charge chart check chip choice circle clap class clip clock
    close closed clothing cloud club cluster coat code coil coin cold collapse collapsed
    collection color column comb combination common companion concentration concept conduct cone
    conflict consumption contact contract control cord core corn corner corona coronary
    correction count course court cover crab crack crest cross crown crushed cut cutting cycle
    dance date dead death decay deep delay delivery depth device dip direction discharge
    discrimination disease dish distance divided donor dose down downs draft drain drained
    drawing dressing drift drill drive drop dry duct dull dye eagle ear early earth echo edge
    edgy effect elevation elevator emotional empty end endo engaged entry error essay excess
    exchange exercise exhausted exit expecting expedition explosion exposed exposure extra face
    factor faint fall falling fan far farm fast fat feature fed fee feed feel feeling fell felt
    field fig fight figure film filter fin finding finger finish fire fish fit fix fixed flag
    flap flash flat flexed floor flow flower flushed fly focus fog fold follow followed
    following followup food force form formation foundation frame free front frozen function
    fund further fusion game gap gas gate gear general gift glass go goal grant grasp graze grid
    grip ground group growth gun habit hacking hang hard heat heavy held hidden high hit hold
    hole home hood hook horn hostile hot hurt hurting hybrid ideal ill illusion image imbalance
    impact impaired in incident inclusion index inferior initial insert inside instruction
    insult intact intensity intention invention involved is island isolated item jab jerk
    jerking joint joy judgment jump junction key kick kind knock knot lab labor laboratory lace
    lack lake landing lap large laser last late layer lead leaf leak left length lens let level
    lid life lift light like limit limp line lip liquid lisp list little live load local lock
    long loop lord loss lost lot low lying lyme machine main major maker manual map marble
    margin mark mask mass master match material matrix mature meal mean measure medium mental
    mentor met metal method middle minor mint mirror missing mission mix mobile mode model mole
    monitor mono moon mosaic motion mount mouse move movement multiple murmur narrow natural
    needle nerve nervous nest net network neutral node noise normal not note nuclear nut object
    obsession odd off oil old open opening opposite oral orange orbit order organ organization
    out outlet outside over overdue overheating own pack packaging pad page painting pair pale
    palm pan panel pap paper parent part partial pass passage past paste patch path patient
    pattern peak pen permit person phase phrase physical piece pigeon pill pilot pin pipe
    piriformis pit pitch place plan plane plant plastic plate platform play plot plug point
    poison pole pond pool poor poorly pop port position post poster pot potato pouch pound
    powder power premature prep preparation present press pressure prime print prison probe
    problem procedure process product production program progress projection prom proof proper
    pulse pump punched pupil pure puzzle quick race rack radiation rail raised range rank rapid
    rat rate ratio raw reach reaction read reading recall receiver recess record recovery red
    reduced reference refill reflex refuge register regret regular rejection relation relative
    release relief remote removal report reserve resistance resource respite response rest
    restless restriction result retained ridge right ring rise risk river road robin rock rod
    role roll roof root rope rose rotation rough round route row rule run running rush sad safe
    salad sale sample saturation save saw scale scan scatter schedule school score scratch
    screen screening seal season seat secondary section seed segment selection self sensitivity
    sensor separated separation sequence series session set shadow shaft shaking shaky shallow
    shape share sharp sheet shelf shell shield shift ship shoe short shot shunt side sign signal
    silent simple single sink sinus site sitting size skill slave sleeve slide slight slip slit
    slot slow sluggish small smear smoke smooth snack snake snap snappy soap soft sole solid
    solution son song sore sound source space spade special speed spell sphere spider spike spin
    splinter split spoken sport spot spotting spray spread spring square stab stabbing stable
    stage staggering stain stall stand standard staple star stealing steam stem stent step
    sterile stick sticky stiff stimulation stop storage storm straight strain strand strangled
    stream strength stress stretch strike string strip stroma strong structure study style
    subject sugar suggestion suit sum superior supply support surface survey survivor suspension
    swallow sweet swing switch system table tablet tag talent tan tank tap tape target task
    taste tear technique teen temp temperature temple tender tension term termination test thick
    thin thorn thought thread threshold thrust thyroid tie tight time tip tired toll tone tool
    top torn total touch tough tower toy trace track tract trail train transfer transition
    transplant trap travel treatment tree trial trick trigger trip triple truck trunk tube
    tunnel turn turned twin twist type under understanding union unit upper upset urgency use
    vampire variant variation vault ventilator version vessel view violent virus voice volume
    volunteer wall wandering want war wash waste wasting watch wave weak wear weather web wedge
    wheel white wide wild will wind window wing wire wit withdrawn wolf word work worker world
    worn young zone
"""
_PHRASES = (
    *("bicuspid valve", "carpal tunnel", "cauda equina", "follow up", "left out", "not well"),
    *("on edge", "rotator cuff", "run down", "worn out"),
)
_QUALIFYING = """
    abnormal active acute adult advanced asymptomatic benign bilateral child chronic clinical
    complete complex concurrent concomitant congenital controlled diffuse elderly episodic female
    generalized history idiopathic incomplete infantile intermittent known localized male malignant
    mild minimal moderate new newborn nonspecific occasional overt patient persistent possible
    preexisting previous prior probable progressive recent recurrent refractory related repeated
    residual resistant rare serious severe significant solid specified spontaneous sporadic
    subclinical suspected symptomatic systemic temporary transient uncomplicated uncontrolled
    induced caused mediated prone sensitive positive negative deficient childhood primary behavioral
    site tissue sensation central frequency
    within without due since following associated cell drug grade symptom therapy wound during
    after before diagnosis episode event onset attack exacerbation
    undiagnosed unexplained unilateral unspecified untreated untreatable various very woman man
"""
"""Words that say how, when or in whom, and not what."""


@functools.cache
def qualifying_forms() -> tuple[str, ...]:
    """Return the normal forms of words beside a name that make no other name of it."""
    words = (*_WORDS.split(), *_QUALIFYING.split(), *FUNCTION_WORDS, *map(str, range(100)))
    return tuple(sorted({normalise(word, STRONG) for word in words}))


def is_ordinary(text: str) -> bool:
    """Tell whether a text is an ordinary word, or a few, whatever its inflection.

    What is written in capitals is an abbreviation.

    >>> [is_ordinary(text) for text in ("cold", "Changes", "follow-up", "COLD", "fever")]
    [True, True, True, False, False]
    """
    return not text.isupper() and normalise(text, STRONG) in _ordinary()


@functools.cache
def _ordinary() -> frozenset[str]:
    return frozenset(normalise(text, STRONG) for text in (*_WORDS.split(), *_PHRASES))
