"""Clinical abbreviations that have one usual reading in notes: *HTN* is hypertension.

The table was written for canonym, from general knowledge. What several specialties read in their
own way, such as *MS*, *CP* or *CHD*, is in `canonym.mentions.readings`, where a text chooses.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping

from canonym.regex import regex

# --- the table ------------------------------------------------------------------------------------


def _read(table: str) -> Mapping[str, str]:
    """Return the reading of each abbreviation; ``;`` stands between them."""
    pairs = (entry.split(":", 1) for entry in " ".join(table.split()).split(";"))
    return {short.strip(): reading.strip() for short, reading in pairs}


_CAPITALS = _read(
    """
    AAA: abdominal aortic aneurysm; ACS: acute coronary syndrome;
    ADHD: attention deficit hyperactivity disorder;
    ADPKD: autosomal dominant polycystic kidney disease;
    AECOPD: acute exacerbation of chronic obstructive pulmonary disease;
    AIHA: autoimmune hemolytic anemia; AION: anterior ischemic optic neuropathy;
    AKI: acute kidney injury; AMD: age-related macular degeneration; AML: acute myeloid leukemia;
    AMS: altered mental status; AOM: acute otitis media; ARDS: acute respiratory distress syndrome;
    ARMD: age-related macular degeneration; ARVC: arrhythmogenic right ventricular cardiomyopathy;
    ASCVD: atherosclerotic cardiovascular disease;
    ATN: acute tubular necrosis; AUB: abnormal uterine bleeding;
    AVB: atrioventricular block; AVF: arteriovenous fistula;
    AVM: arteriovenous malformation; AVN: avascular necrosis;
    AVNRT: atrioventricular nodal reentrant tachycardia; AVSD: atrioventricular septal defect;
    BCC: basal cell carcinoma; BKA: below knee amputation;
    BPH: benign prostatic hyperplasia; BPPV: benign paroxysmal positional vertigo;
    BRAO: branch retinal artery occlusion; BRBPR: bright red blood per rectum;
    BRVO: branch retinal vein occlusion; BV: bacterial vaginosis;
    CABG: coronary artery bypass graft; CAD: coronary artery disease;
    CAH: congenital adrenal hyperplasia; CAUTI: catheter-associated urinary tract infection;
    CCF: congestive cardiac failure; CHB: complete heart block; CHF: congestive heart failure;
    CIDP: chronic inflammatory demyelinating polyneuropathy; CJD: Creutzfeldt-Jakob disease;
    CKD: chronic kidney disease; CLABSI: central line-associated bloodstream infection;
    CLD: chronic liver disease; CLI: critical limb ischemia; CLL: chronic lymphocytic leukemia;
    CLTI: chronic limb-threatening ischemia; CML: chronic myeloid leukemia;
    CMML: chronic myelomonocytic leukemia; CMV: cytomegalovirus;
    COPD: chronic obstructive pulmonary disease; CPPD: calcium pyrophosphate deposition disease;
    CRAO: central retinal artery occlusion; CRC: colorectal cancer;
    CRPC: castration-resistant prostate cancer; CRPS: complex regional pain syndrome;
    CRS: chronic rhinosinusitis; CRVO: central retinal vein occlusion;
    CTEPH: chronic thromboembolic pulmonary hypertension; CVA: cerebrovascular accident;
    CVD: cardiovascular disease; CVST: cerebral venous sinus thrombosis;
    DCIS: ductal carcinoma in situ; DCM: dilated cardiomyopathy; DDD: degenerative disc disease;
    DDH: developmental dysplasia of the hip; DIC: disseminated intravascular coagulation;
    DJD: degenerative joint disease; DKA: diabetic ketoacidosis;
    DLBCL: diffuse large B-cell lymphoma; DLE: discoid lupus erythematosus;
    DME: diabetic macular edema; DOE: dyspnea on exertion; DPLD: diffuse parenchymal lung disease;
    DSD: disorder of sex development; DVT: deep vein thrombosis; EBV: Epstein-Barr virus;
    EGPA: eosinophilic granulomatosis with polyangiitis; EOE: eosinophilic esophagitis;
    ERM: epiretinal membrane; ESLD: end stage liver disease; ESRD: end stage renal disease;
    ESRF: end stage renal failure; ETD: eustachian tube dysfunction;
    FHH: familial hypocalciuric hypercalcemia; FSGS: focal segmental glomerulosclerosis;
    FTD: frontotemporal dementia; FUO: fever of unknown origin; GAD: generalized anxiety disorder;
    GBM: glioblastoma multiforme; GBS: Guillain-Barre syndrome; GCA: giant cell arteritis;
    GDD: global developmental delay; GDM: gestational diabetes mellitus;
    GERD: gastroesophageal reflux disease; GIB: gastrointestinal bleeding;
    GIST: gastrointestinal stromal tumor; GORD: gastroesophageal reflux disease; GSW: gunshot wound;
    GTCS: generalized tonic-clonic seizure; GVHD: graft versus host disease;
    HAP: hospital-acquired pneumonia; HBP: high blood pressure; HBV: hepatitis B virus;
    HCC: hepatocellular carcinoma; HCM: hypertrophic cardiomyopathy; HCV: hepatitis C virus;
    HFMD: hand, foot and mouth disease; HFPEF: heart failure with preserved ejection fraction;
    HFREF: heart failure with reduced ejection fraction;
    HGSIL: high-grade squamous intraepithelial lesion; HHS: hyperosmolar hyperglycemic state;
    HIE: hypoxic ischemic encephalopathy; HLD: hyperlipidemia;
    HLH: hemophagocytic lymphohistiocytosis; HNP: herniated nucleus pulposus;
    HOCM: hypertrophic obstructive cardiomyopathy; HPV: human papillomavirus;
    HSP: Henoch-Schonlein purpura; HSV: herpes simplex virus; HTG: hypertriglyceridemia;
    HTN: hypertension; HUS: hemolytic uremic syndrome; IBD: inflammatory bowel disease;
    IBS: irritable bowel syndrome; ICH: intracerebral hemorrhage; IDA: iron deficiency anemia;
    IDDM: insulin-dependent diabetes mellitus; IEM: inborn error of metabolism;
    IFG: impaired fasting glucose; IGT: impaired glucose tolerance; IHD: ischemic heart disease;
    IIH: idiopathic intracranial hypertension; ILD: interstitial lung disease;
    IPF: idiopathic pulmonary fibrosis; ISH: isolated systolic hypertension;
    ITP: immune thrombocytopenic purpura; IUGR: intrauterine growth restriction;
    IVDA: intravenous drug abuse; IVDU: intravenous drug use; IVH: intraventricular hemorrhage;
    JIA: juvenile idiopathic arthritis; LADA: latent autoimmune diabetes in adults;
    LAE: left atrial enlargement; LBBB: left bundle branch block; LBP: low back pain;
    LCIS: lobular carcinoma in situ; LGIB: lower gastrointestinal bleeding;
    LGSIL: low-grade squamous intraepithelial lesion; LQTS: long QT syndrome;
    LUTS: lower urinary tract symptoms; LVEF: left ventricular ejection fraction;
    LVF: left ventricular failure; LVH: left ventricular hypertrophy; LVO: large vessel occlusion;
    MDD: major depressive disorder; MDS: myelodysplastic syndrome;
    MGUS: monoclonal gammopathy of undetermined significance; MNG: multinodular goiter;
    MODS: multiple organ dysfunction syndrome; MPGN: membranoproliferative glomerulonephritis;
    MRSA: methicillin-resistant Staphylococcus aureus; MSA: multiple system atrophy;
    MSSA: methicillin-sensitive Staphylococcus aureus; MTC: medullary thyroid carcinoma;
    MVA: motor vehicle accident; MVP: mitral valve prolapse;
    NAFLD: nonalcoholic fatty liver disease; NAION: nonarteritic anterior ischemic optic neuropathy;
    NAS: neonatal abstinence syndrome; NASH: nonalcoholic steatohepatitis;
    NF1: neurofibromatosis type 1; NF2: neurofibromatosis type 2;
    NHL: non-Hodgkin lymphoma; NIDDM: non-insulin-dependent diabetes mellitus;
    NKDA: no known drug allergies; NMO: neuromyelitis optica; NMS: neuroleptic malignant syndrome;
    NPDR: nonproliferative diabetic retinopathy; NPH: normal pressure hydrocephalus;
    NSCLC: non-small cell lung cancer; NSTEMI: non-ST elevation myocardial infarction;
    NSVT: nonsustained ventricular tachycardia; NTD: neural tube defect;
    NTM: nontuberculous mycobacteria; NVG: neovascular glaucoma; OCD: obsessive-compulsive disorder;
    OME: otitis media with effusion; ONJ: osteonecrosis of the jaw; OSA: obstructive sleep apnea;
    OSAHS: obstructive sleep apnea hypopnea syndrome; PAD: peripheral arterial disease;
    PAF: paroxysmal atrial fibrillation; PAH: pulmonary arterial hypertension;
    PBC: primary biliary cholangitis; PCKD: polycystic kidney disease;
    PCOS: polycystic ovary syndrome; PDR: proliferative diabetic retinopathy;
    PFO: patent foramen ovale; PHPT: primary hyperparathyroidism; PID: pelvic inflammatory disease;
    PJS: Peutz-Jeghers syndrome; PKU: phenylketonuria; PLMD: periodic limb movement disorder;
    PMDD: premenstrual dysphoric disorder; PMR: polymyalgia rheumatica; PNA: pneumonia;
    PNES: psychogenic nonepileptic seizure; PNH: paroxysmal nocturnal hemoglobinuria;
    POAG: primary open-angle glaucoma; POF: premature ovarian failure;
    PONV: postoperative nausea and vomiting; POTS: postural orthostatic tachycardia syndrome;
    PPCM: peripartum cardiomyopathy; PPH: postpartum hemorrhage;
    PPROM: preterm premature rupture of membranes; PSC: primary sclerosing cholangitis;
    PSGN: poststreptococcal glomerulonephritis; PSVT: paroxysmal supraventricular tachycardia;
    PTSD: posttraumatic stress disorder; PUD: peptic ulcer disease;
    PVC: premature ventricular contraction; PVCS: premature ventricular contractions;
    PVD: peripheral vascular disease; PVT: portal vein thrombosis; PWS: Prader-Willi syndrome;
    RAO: retinal artery occlusion; RBBB: right bundle branch block; RCC: renal cell carcinoma;
    RDS: respiratory distress syndrome; RHD: rheumatic heart disease;
    RMSF: Rocky Mountain spotted fever; ROP: retinopathy of prematurity;
    RPGN: rapidly progressive glomerulonephritis; RRD: rhegmatogenous retinal detachment;
    RSV: respiratory syncytial virus; RVF: right ventricular failure;
    RVR: rapid ventricular response; RVT: renal vein thrombosis; SAH: subarachnoid hemorrhage;
    SBE: subacute bacterial endocarditis; SBO: small bowel obstruction;
    SBP: spontaneous bacterial peritonitis; SCD: sickle cell disease;
    SCFE: slipped capital femoral epiphysis; SCLC: small cell lung cancer; SDH: subdural hematoma;
    SIADH: syndrome of inappropriate antidiuretic hormone secretion;
    SIBO: small intestinal bacterial overgrowth; SIDS: sudden infant death syndrome;
    SIRS: systemic inflammatory response syndrome; SJS: Stevens-Johnson syndrome;
    SLE: systemic lupus erythematosus; SNHL: sensorineural hearing loss; SOB: shortness of breath;
    SOBOE: shortness of breath on exertion; SSS: sick sinus syndrome;
    SSTI: skin and soft tissue infection; STD: sexually transmitted disease;
    STEMI: ST elevation myocardial infarction; STI: sexually transmitted infection;
    SUD: substance use disorder; SUI: stress urinary incontinence;
    SVT: supraventricular tachycardia; TAVR: transcatheter aortic valve replacement;
    TBI: traumatic brain injury; TCC: transitional cell carcinoma; TEF: tracheoesophageal fistula;
    THR: total hip replacement; TIA: transient ischemic attack; TKR: total knee replacement;
    TLE: temporal lobe epilepsy; TLS: tumor lysis syndrome; TNBC: triple negative breast cancer;
    TOA: tubo-ovarian abscess; TOF: tetralogy of Fallot; TSS: toxic shock syndrome;
    TTN: transient tachypnea of the newborn; TTP: thrombotic thrombocytopenic purpura;
    UGIB: upper gastrointestinal bleeding; URI: upper respiratory infection;
    URTI: upper respiratory tract infection; UTI: urinary tract infection;
    VAP: ventilator-associated pneumonia; VHD: valvular heart disease;
    VRE: vancomycin-resistant enterococcus; VSD: ventricular septal defect;
    VTE: venous thromboembolism; VUR: vesicoureteral reflux; VZV: varicella zoster virus;
    WPW: Wolff-Parkinson-White syndrome
    """
)
_MIXED_CASE = {
    "HFpEF": "heart failure with preserved ejection fraction",
    "HFrEF": "heart failure with reduced ejection fraction",
    "IgAN": "IgA nephropathy",
    "hypoK": "hypokalemia",
    "hyperK": "hyperkalemia",
    "hypoNa": "hyponatremia",
    "hyperNa": "hypernatremia",
    "hypoMg": "hypomagnesemia",
    "hypoCa": "hypocalcemia",
    "hyperCa": "hypercalcemia",
}
_ANY_CASE = _read(
    """
    abd: abdominal; afib: atrial fibrillation; aflutter: atrial flutter; appy: appendectomy;
    bilat: bilateral; brady: bradycardia; bx: biopsy; cdiff: Clostridioides difficile;
    chol: cholesterol; congen: congenital; def: deficiency; displ: displaced; dysfxn: dysfunction;
    dz: disease; etoh: alcohol; exac: exacerbation; frac: fracture; fract: fracture; fx: fracture;
    fxn: function; fxs: fractures; hep: hepatitis; htn: hypertension; infxn: infection;
    insuff: insufficiency; lac: laceration; lacs: lacerations; malig: malignant; mets: metastases;
    neopl: neoplasm; nondispl: nondisplaced; obstr: obstruction; preg: pregnancy; prox: proximal;
    pyelo: pyelonephritis; resp: respiratory; sz: seizure; szs: seizures; tachy: tachycardia;
    uncomp: uncomplicated; vag: vaginal; vfib: ventricular fibrillation;
    vtach: ventricular tachycardia; wt: weight
    """
)
# These mean this beside other words: *OA of the knee*.
_WITHIN = _read(
    """
    AF: atrial fibrillation; ca: cancer; CBD: common bile duct; DM: diabetes mellitus;
    FB: foreign body; GI: gastrointestinal; HF: heart failure; LLE: left lower extremity;
    LLL: left lower lobe; LLQ: left lower quadrant;
    LUE: left upper extremity; LUL: left upper lobe; LUQ: left upper quadrant;
    MI: myocardial infarction; NOF: neck of femur; OA: osteoarthritis; RLE: right lower extremity;
    RLL: right lower lobe; RLQ: right lower quadrant; RML: right middle lobe;
    RUE: right upper extremity; RUL: right upper lobe; RUQ: right upper quadrant;
    TB: tuberculosis; TMJ: temporomandibular joint; UC: ulcerative colitis;
    UPJ: ureteropelvic junction
    """
)
# Tests, which are read beside a result: *elevated LFTs*. Alone many are genes or other things.
_TESTS = _read(
    """
    ALP: alkaline phosphatase; ALT: alanine aminotransferase; ANA: antinuclear antibody;
    AST: aspartate aminotransferase; BMI: body mass index; BNP: brain natriuretic peptide;
    BUN: blood urea nitrogen; CK: creatine kinase; CRP: C-reactive protein;
    CPK: creatine phosphokinase; CXR: chest x-ray; ECG: electrocardiogram;
    EEG: electroencephalogram; EKG: electrocardiogram; EMG: electromyogram;
    ESR: erythrocyte sedimentation rate; FSH: follicle stimulating hormone;
    GFR: glomerular filtration rate; GGT: gamma glutamyl transferase; Hb: hemoglobin;
    Hct: hematocrit; Hgb: hemoglobin; HR: heart rate; INR: international normalized ratio;
    LDH: lactate dehydrogenase; LFT: liver function test; LFTs: liver function tests;
    PFT: pulmonary function test; PFTs: pulmonary function tests; plt: platelets;
    plts: platelets; PSA: prostate specific antigen; PTH: parathyroid hormone;
    PTT: partial thromboplastin time; TFT: thyroid function test; TFTs: thyroid function tests;
    trop: troponin; trops: troponins; TSH: thyroid stimulating hormone;
    WBC: white blood cell count
    """
)
RESULTS = (
    "abnormal|abn|borderline|decreased?|deranged|elevated|elevation|high|increased?|low|positive|"
    "prolonged|raised|reduced|rising"
)
"""What a test may be, as part of a regular expression."""

# Next to each other: the result in *high-risk ALT* and *low back pain, HR* is of something else.
_TESTED = regex(
    rf"(?<![\w-])(?i:{RESULTS})\s+([^\W\d_]{{2,4}})(?![\w/+-])"
    rf"|(?<![\w/+-])([^\W\d_]{{2,4}})\s+(?i:{RESULTS})(?![\w-])"
)
# These are read in running text alone, in capitals: in a list many are words or fields.
_IN_TEXTS = _read(
    """
    ACLF: acute-on-chronic liver failure; ADEM: acute disseminated encephalomyelitis; ADHF:
    acute decompensated heart failure; AFRS: allergic fungal rhinosinusitis; AIDP: acute
    inflammatory demyelinating polyneuropathy; AIH: autoimmune hepatitis; AKA: above knee
    amputation; ALCL: anaplastic large cell lymphoma; ALF: acute liver failure; ALI: acute lung
    injury; ALPS: autoimmune lymphoproliferative syndrome; ALTE: apparent life-threatening
    event; AMAN: acute motor axonal neuropathy; AMKL: acute megakaryoblastic leukemia; APAP:
    acetaminophen; ARVD: arrhythmogenic right ventricular dysplasia; ASCUS: atypical squamous
    cells of undetermined significance; ATTR: transthyretin amyloidosis; AUD: alcohol use
    disorder; AVRT: atrioventricular reentrant tachycardia; BAV: bicuspid aortic valve; BPSD:
    behavioral and psychological symptoms of dementia; BRUE: brief resolved unexplained event;
    BWS: Beckwith-Wiedemann syndrome; CABP: community-acquired bacterial pneumonia; CADASIL:
    cerebral autosomal dominant arteriopathy with subcortical infarcts and leukoencephalopathy;
    CDAD: Clostridioides difficile-associated diarrhea; CDH: congenital diaphragmatic hernia;
    CDI: Clostridioides difficile infection; CGD: chronic granulomatous disease; CHS:
    cannabinoid hyperemesis syndrome; CIPN: chemotherapy-induced peripheral neuropathy; CINV:
    chemotherapy-induced nausea and vomiting; CMT: Charcot-Marie-Tooth disease; CNV: choroidal
    neovascularization; CRKP: carbapenem-resistant Klebsiella pneumoniae; CSDH: chronic subdural
    hematoma; CSU: chronic spontaneous urticaria; CTCL: cutaneous T-cell lymphoma; CTD:
    connective tissue disease; CVID: common variable immunodeficiency; CVI: chronic venous
    insufficiency; CVT: cerebral venous thrombosis; DAH: diffuse alveolar hemorrhage; DILI:
    drug-induced liver injury; DIOS: distal intestinal obstruction syndrome; DISH: diffuse
    idiopathic skeletal hyperostosis; DKD: diabetic kidney disease; DPN: diabetic peripheral
    neuropathy; DRESS: drug reaction with eosinophilia and systemic symptoms; DUB: dysfunctional
    uterine bleeding; EAC: esophageal adenocarcinoma; ECMO: extracorporeal membrane oxygenation;
    ELBW: extremely low birth weight; ENKTL: extranodal NK/T-cell lymphoma; ESCC: esophageal
    squamous cell carcinoma; FAS: fetal alcohol syndrome; FASD: fetal alcohol spectrum disorder;
    FGR: fetal growth restriction; FNH: focal nodular hyperplasia; FTLD: frontotemporal lobar
    degeneration; FXS: fragile X syndrome; GAVE: gastric antral vascular ectasia; GHD: growth
    hormone deficiency; GPA: granulomatosis with polyangiitis; HAE: hereditary angioedema; HAV:
    hepatitis A virus; HBOC: hereditary breast and ovarian cancer; HDV: hepatitis D virus; HEV:
    hepatitis E virus; HFRS: hemorrhagic fever with renal syndrome; HHT: hereditary hemorrhagic
    telangiectasia; HLHS: hypoplastic left heart syndrome; HNPCC: hereditary nonpolyposis
    colorectal cancer; HNSCC: head and neck squamous cell carcinoma; HRS: hepatorenal syndrome;
    HSCT: hematopoietic stem cell transplantation; HSDD: hypoactive sexual desire disorder;
    HSIL: high-grade squamous intraepithelial lesion; HTLV: human T-lymphotropic virus; IBM:
    inclusion body myositis; IED: intermittent explosive disorder; IHCP: intrahepatic
    cholestasis of pregnancy; ILI: influenza-like illness; IPMN: intraductal papillary mucinous
    neoplasm; IPV: intimate partner violence; ISR: in-stent restenosis; IUD: intrauterine
    device; IUFD: intrauterine fetal death; JDM: juvenile dermatomyositis; JME: juvenile
    myoclonic epilepsy; JMML: juvenile myelomonocytic leukemia; LAFB: left anterior fascicular
    block; LCH: Langerhans cell histiocytosis; LCPD: Legg-Calve-Perthes disease; LEMS:
    Lambert-Eaton myasthenic syndrome; LGA: large for gestational age; LGMD: limb-girdle
    muscular dystrophy; LGS: Lennox-Gastaut syndrome; LHON: Leber hereditary optic neuropathy;
    LPR: laryngopharyngeal reflux; LSIL: low-grade squamous intraepithelial lesion; LTBI: latent
    tuberculosis infection; LVAD: left ventricular assist device; MCAS: mast cell activation
    syndrome; MCTD: mixed connective tissue disease; MELAS: mitochondrial encephalomyopathy,
    lactic acidosis and stroke-like episodes; MERS: Middle East respiratory syndrome; MGD:
    meibomian gland dysfunction; MPN: myeloproliferative neoplasm; MSUD: maple syrup urine
    disease; MVC: motor vehicle collision; NCSE: nonconvulsive status epilepticus; NMOSD:
    neuromyelitis optica spectrum disorder; NSIP: nonspecific interstitial pneumonia; NVAF:
    nonvalvular atrial fibrillation; OAB: overactive bladder; ODD: oppositional defiant
    disorder; OHS: obesity hypoventilation syndrome; OHSS: ovarian hyperstimulation syndrome;
    OPMD: oculopharyngeal muscular dystrophy; OSCC: oral squamous cell carcinoma; OUD: opioid
    use disorder; PACNS: primary angiitis of the central nervous system; PAPVR: partial
    anomalous pulmonary venous return; PCNSL: primary central nervous system lymphoma; PDAC:
    pancreatic ductal adenocarcinoma; PDPH: postdural puncture headache; PEA: pulseless
    electrical activity; PHN: postherpetic neuralgia; PJI: prosthetic joint infection; PML:
    progressive multifocal leukoencephalopathy; PMB: postmenopausal bleeding; POI: primary
    ovarian insufficiency; PPHN: persistent pulmonary hypertension of the newborn; PPMS: primary
    progressive multiple sclerosis; PSP: progressive supranuclear palsy; PTLD: posttransplant
    lymphoproliferative disorder; PTC: papillary thyroid carcinoma; PTX: pneumothorax; PUPPP:
    pruritic urticarial papules and plaques of pregnancy; PVL: periventricular leukomalacia;
    RRMS: relapsing-remitting multiple sclerosis; RVH: right ventricular hypertrophy; RVO:
    retinal vein occlusion; SARS: severe acute respiratory syndrome; SBS: short bowel syndrome;
    SCAD: spontaneous coronary artery dissection; SCLE: subacute cutaneous lupus erythematosus;
    SGA: small for gestational age; SLL: small lymphocytic lymphoma; SMI: serious mental
    illness; SPMS: secondary progressive multiple sclerosis; SSNHL: sudden sensorineural hearing
    loss; SSPE: subacute sclerosing panencephalitis; SUDEP: sudden unexpected death in epilepsy;
    TAPVR: total anomalous pulmonary venous return; TMD: temporomandibular disorder; TRD:
    treatment-resistant depression; TTTS: twin-to-twin transfusion syndrome; UIP: usual
    interstitial pneumonia; UPJO: ureteropelvic junction obstruction; VLBW: very low birth
    weight; VOD: veno-occlusive disease; VKC: vernal keratoconjunctivitis; VWD: von Willebrand
    disease; WNV: West Nile virus; XLA: X-linked agammaglobulinemia; XLH: X-linked
    hypophosphatemia
    """
)
_ENGLISH = frozenset({"doe", "pad", "sob"})  # words, in small letters


def _forms() -> dict[str, str]:
    """Return the reading of every form that is read: in small letters, in capitals, plurals."""
    readings = {**_CAPITALS, **_MIXED_CASE}
    for short, reading in _CAPITALS.items():
        readings[f"{short}s"] = reading if reading.endswith("s") else f"{reading}s"
        if short.lower() not in _ENGLISH:
            readings[short.lower()] = reading
    for short, reading in _ANY_CASE.items():
        readings.update(dict.fromkeys((short, short.title(), short.upper()), reading))
    return readings


_READINGS = _forms()
# In running text these are words or units, or stand for something else as well.
_ONLY_IN_LISTS = frozenset(
    """
    abd appy bilat bx chol congen def displ frac fract hep insuff lac lacs malig mets neopl obstr
    preg prox resp uncomp vag wt
    """.split()  # noqa: SIM905
)


@functools.cache
def text_readings() -> Mapping[str, str]:
    """Return the reading of every form that is read in running text."""
    readings = {
        short: reading
        for short, reading in _READINGS.items()
        if short.lower() not in _ONLY_IN_LISTS and (len(short) > 2 or short.lower() in _ANY_CASE)
    }
    return {
        **_IN_TEXTS,
        **{f"{short}s": f"{text}s" for short, text in _IN_TEXTS.items()},
        **readings,
    }


# --- reading --------------------------------------------------------------------------------------

_WORD = regex(r"(?<![\w/+-])[^\W\d_]{2,8}(?![\w/+-])")


def usual_reading(text: str) -> str:
    """Return a mention with its clinical abbreviations written out, "" where it has none.

    >>> usual_reading("HTN, uncontrolled"), usual_reading("fx left wrist"), usual_reading("OA")
    ('hypertension, uncontrolled', 'fracture left wrist', '')
    """
    words = _WORD.findall(text)
    readings = {word: _READINGS[word] for word in words if word in _READINGS}
    if len(text.split()) > 1:
        readings.update((word, _WITHIN[word]) for word in words if word in _WITHIN)
        tests = itertools.chain.from_iterable(_TESTED.findall(text))
        readings.update((test, _TESTS[test]) for test in tests if test in _TESTS)
    if not readings:
        return ""
    return _WORD.sub(lambda match: readings.get(match[0], match[0]), text)
