"""Words of English that exclude each other, and words that say how or how much."""

from __future__ import annotations

OPPOSITES = """
left/lt/l right/rt/r bilateral
unilateral bilateral
benign malignant/cancerous
acute/sudden chronic subacute
maternal/mother paternal/father
dominant recessive
upper lower
increased/increase/elevated/elevation/high/raised decreased/decrease/reduced/reduction/low normal
increased/elevated/high/much/excess/excessive deficiency/deficient/impaired/low/decreased/reduced
initial/first subsequent sequela/sequelae
anterior posterior
medial lateral
proximal distal
superior inferior
dorsal ventral
male/men/man/boy/masculine female/women/woman/girl/feminine
congenital/inborn acquired
primary secondary tertiary
early/premature/precocious late/delayed
infantile/infant juvenile adult neonatal/newborn
open closed
superficial deep
internal external
systolic diastolic
sensory motor
central peripheral
cranial caudal
afferent efferent
excitatory inhibitory
agonist antagonist
positive/pos negative/neg
present absent
normal abnormal
on off
mild moderate severe profound
single multiple
complete/total partial/incomplete/subtotal
ascending descending
inner outer
major minor
dry wet
simple complex complicated
visceral parietal
soluble insoluble
active inactive latent
stable unstable
gain loss
hot cold
tall short
large/big small/little giant
enlarged small
wide/broad narrow
thick thin
hand foot
artery vein
atrial ventricular
susceptible/sensitive resistant
antegrade/anterograde retrograde
long short
fast slow
inspiratory/inspiration expiratory/expiration
inhalation/inhaled exhalation/exhaled
intrinsic extrinsic
import export
flexion extension
flexor extensor
abduction adduction
abductor adductor
pronation supination
eversion inversion
autosomal x-linked y-linked
viral bacterial fungal parasitic
arterial venous
ischemic hemorrhagic
obstructive nonobstructive
insipidus mellitus
voluntary involuntary
direct indirect
oral rectal intravenous/iv intramuscular/im subcutaneous topical sublingual inhaled
sense antisense
light heavy
odd even
front back
hyperactive hypoactive
abuse addiction/dependence/dependency
cis trans
ortho meta para
dextro levo
deletion/del duplication/dup inversion/inv insertion/ins
"""
"""A line of words of which each excludes the others; words joined by a slash mean the same."""

SPECIES = (
    "human/homo mouse/murine/mice rat/rattus bovine/cow/cattle/bos porcine/pig/swine/sus "
    "ovine/sheep canine/dog feline/cat equine/horse chicken/gallus zebrafish/danio xenopus "
    "drosophila yeast rabbit monkey/macaque/simian chimpanzee goat/caprine hamster elegans "
    "arabidopsis"
)
"""Species, in the same way."""

PREFIXES = """
hyper hypo normo eu a
pre post peri
per peri para pre
hemi hemo
ante post
ante retro
epi sub intra
micro macro normo
intra extra inter
endo exo ecto
sub supra super
infra supra
uni bi tri tetra quadri
mono di tri tetra penta hexa poly oligo
hemi para quadri tetra di mono
brady tachy
homo hetero
ab ad
in ex
over under
epi hypo endo
anti pro
iso hyper hypo
up down
"""
"""A line of prefixes of which each excludes the others before the same word."""

PRIVATIVE = frozenset(
    (
        *("non", "un", "in", "im", "ir", "dis", "an", "a", "anti", "de", "des"),  # a denial
        *("es", "lev", "levo", "dextro", "dex", "ar", "nor", "iso"),  # another molecule
        *("hemi", "para", "pre", "pseudo", "sub"),  # half of it, beside, before, like or below it
    )
)
"""Prefixes that make another thing of the word behind them."""

_NUMBERS = (
    "zero one/first two/second three/third four/fourth five/fifth six/sixth seven/seventh "
    "eight/eighth nine/ninth ten/tenth eleven/eleventh twelve/twelfth"
)
NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(_NUMBERS.split(" "))
    for word in words.split("/")
}
"""Numbers in words."""

_LETTERS = "alpha:a beta:b gamma:g delta:d epsilon:e zeta:z eta:h theta:t kappa:k lambda:l sigma:s"
GREEK = dict(pair.split(":") for pair in _LETTERS.split(" "))
"""Greek letters, and the Latin ones that stand for them."""

_NEGATIONS = "no not without nor never nil deny denied denying lack"
NEGATIONS = frozenset(_NEGATIONS.split(" "))
"""Words that deny what follows."""

_PRIVATION = (
    "absence absent agenesis aplasia atresia deficiency hypoplasia loss lack missing failure "
    "defect insufficiency negative"
)
PRIVATION = frozenset(_PRIVATION.split(" "))
"""Words by which a concept itself is that something is not there."""

_SMALL = "a an the of in on at to for by from and or with due"
SMALL = frozenset(_SMALL.split(" "))
"""Words that join others and say nothing themselves."""

UNSPECIFIED = frozenset({"unspecified", "nos", "nec"})
"""Words by which a terminology says that nothing more is known."""

_TAGS = (
    "finding procedure situation qualifier value morphologic abnormality organism substance "
    "structure disorder"
)
TAGS = UNSPECIFIED | frozenset(_TAGS.split(" "))
"""What a terminology adds to a name: these, and tags of SNOMED CT, which stand in brackets."""

IMPLIED = frozenset({"mellitus", "pectoris"})
"""Words that nobody says: *type 2 diabetes* is *type 2 diabetes mellitus*."""

KINDS = IMPLIED | {"disease", "disorder", "syndrome", "condition"}
"""Words that a name may have more than a mention: *Crohn* is *Crohn disease*."""

_QUALIFIERS = (
    "mild moderate severe profound slight marked extreme borderline acute chronic subacute "
    "recurrent persistent progressive intermittent transient episodic paroxysmal relapsing "
    "remitting refractory intractable early late onset advanced end stage terminal left right "
    "bilateral unilateral upper lower anterior posterior medial lateral proximal distal focal "
    "diffuse generalized localized local systemic multiple single isolated primary secondary new "
    "old recent past probable possible suspected confirmed known childhood juvenile infantile "
    "adult neonatal congenital acquired hereditary familial sporadic idiopathic symptomatic "
    "asymptomatic active inactive worsening stable controlled uncontrolled complicated "
    "uncomplicated bad terrible very"
)
QUALIFIERS = frozenset(_QUALIFIERS.split(" "))
"""Words of severity, course, side and origin: they say which kind of a concept it is."""

_ORDINARY = (
    "all and are can but did for had has his her him its may not now one our out set the was"
)
ORDINARY = frozenset(_ORDINARY.split(" "))
"""Words of every text that are spelt like symbols in capitals."""
