"""Abbreviations of several readings in running text: *MS* is sclerosis, a valve, a drug or a state.

The other words of a text choose. Each reading has words that stand beside it, given by how they
begin. The reading with most of them is meant; without any, or where two have as many, the
abbreviation is left alone. Some readings are no concept of medicine, such as the guidelines of
the *ICH*: they are here so that nothing else is read. Where a list has an abbreviation alone, its
readings are what it may stand for.

The table was written for canonym, from general knowledge. `canonym.mentions.clinical` has the
abbreviations of one usual reading.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from canonym.mentions.clinical import text_readings
from canonym.mentions.shorthand import diabetes_name
from canonym.regex import regex

# --- the table ------------------------------------------------------------------------------------

# ABBREVIATION: reading = beginnings of words beside it; another reading = ...
_TABLE = """
    AA: alcoholics anonymous = alcohol sober sponsor meeting; aortic aneurysm = aort vascul
      repair graft; alopecia areata = hair scalp dermat patch; aplastic anemia = pancytop marrow
      cyclospor transplant; amino acid = protein residue sequence
    AB: abortion = pregnan gravid para uter; antibody = antigen serum titer igg immun; asthmatic
      bronchitis = wheez bronch albuterol cough
    ABE: acute bacterial endocarditis = valve vegetation murmur staph blood cultur
    AC: acromioclavicular joint = shoulder clavic separation; doxorubicin and cyclophosphamide =
      breast cancer chemo cycle taxane; before meals = meal glucose insulin
    ACC: adrenocortical carcinoma = adrenal mitotane; adenoid cystic carcinoma = saliv gland;
      agenesis of the corpus callosum = brain callos mri
    ACL: anterior cruciate ligament = knee tear menisc ligament sport; anticardiolipin = lupus
      thromb antibod igg igm
    AD: Alzheimer disease = dement memory cognit amyloid tau donepezil mild; atopic dermatitis =
      eczema skin itch prurit topical dermat dupilumab; autosomal dominant = inherit gene
      mutation pedigree; right ear = ear hearing tympan
    AE: adverse event = serious safety grade related report treatment; above elbow = amput elbow
      arm
    AF: atrial fibrillation = warfarin anticoag stroke rate rhythm cardiovers ablat palpit ecg
      ekg ventric heart; amniotic fluid = fetal amnio gestation; atrial flutter = flutter
    AFP: alpha fetoprotein = tumor liver hepat serum marker; acute flaccid paralysis = polio
      paraly weakness flaccid
    AI: aortic insufficiency = valve murmur aort regurg echo; adrenal insufficiency = cortisol
      hydrocort acth hypotens; aromatase inhibitor = breast estrogen letrozole anastroz;
      artificial intelligence = algorithm learning model
    AIN: acute interstitial nephritis = creatin eosinophil renal kidney urin; anal
      intraepithelial neoplasia = anal hpv anosc dysplas
    ALS: amyotrophic lateral sclerosis = motor neuron weakness bulbar riluzole fascicul respir;
      advanced life support = ambulance paramed resuscit
    AMI: acute myocardial infarction = coronary st troponin thrombol cardiac pci chest heart;
      amitriptyline = depress mg dose
    AN: anorexia nervosa = eating weight bulim bmi food; acoustic neuroma = hearing tinnit
      vestib; acanthosis nigricans = skin insulin obes
    AP: angina pectoris = chest nitro coronary exert; acute pancreatitis = amylase lipase
      pancrea abdom gallstone; anteroposterior = view film radiograph xray
    APL: acute promyelocytic leukemia = retinoi atra arsenic leukem; antiphospholipid = antibod
      thromb lupus
    APS: antiphospholipid syndrome = thromb antibod lupus anticoag pregnan; adult protective
      services = neglect abuse elder
    AR: aortic regurgitation = valve murmur aort echo diastol; allergic rhinitis = nasal allerg
      sneez antihist pollen; androgen receptor = prostate androgen receptor; autosomal recessive
      = inherit gene mutation
    ARF: acute renal failure = creatin dialysis oligur kidney urine renal bun; acute respiratory
      failure = intub ventilat oxygen hypox respirat; acute rheumatic fever = strep carditis
      jones chorea
    AS: aortic stenosis = valve murmur aort echo tavr syncope gradient; ankylosing spondylitis =
      spine back sacroil hla tnf stiff; Angelman syndrome = ube seizure speech
    ASA: aspirin = mg daily clopidogrel antiplatelet stroke coronary; American Society of
      Anesthesiologists = class score physical grade anesth
    ASD: autism spectrum disorder = social communic child behavior develop speech autis; atrial
      septal defect = shunt septal heart echo murmur congenital cyano; acute stress disorder =
      trauma dissoc flashback
    AT: atrial tachycardia = rhythm ecg ablation palpit; ataxia telangiectasia = cerebell
      immunodef atm; antithrombin = thromb clot deficien
    AV: arteriovenous = fistula shunt malform graft; atrioventricular = block node conduct
      heart; aortic valve = stenosis regurg replacement
    BE: Barrett's esophagus = esophag reflux dysplas endosc; bacterial endocarditis = valve
      vegetation; base excess = gas ph bicarb
    BO: bronchiolitis obliterans = lung transplant airflow; bowel obstruction = vomit distens
      abdom bowel; bowels open = stool constip
    BP: blood pressure = mmhg systolic diastol hypertens pulse heart rate; bipolar disorder =
      manic mania lithium mood; bullous pemphigoid = blister skin bull
    BPD: bronchopulmonary dysplasia = preterm oxygen ventilat lung infant; borderline personality
      disorder = mood harm psych suicid; biparietal diameter = fetal gestat ultraso femur
    BS: bowel sounds = abdom soft tender; blood sugar = glucose insulin diabet; Bartter syndrome
      = hypokal alkalos renal
    CA: cancer = tumor metast chemo stage oncolog breast lung colon prostate; cardiac arrest =
      resuscit cpr rosc arrest; calcium = mg level albumin serum
    CAP: community-acquired pneumonia = pneumon cough sputum antibio ceftriax azithro infiltr
      fever consolid respirat; capsule = mg oral daily; cancer of the prostate = prostat psa
      androgen
    CC: chief complaint = complain present; cholangiocarcinoma = bile biliary hepat; corpus
      callosum = agenesis brain mri
    CD: Crohn disease = colitis bowel ileal inflixim fistul stool endosc; celiac disease =
      gluten villous tissue transglut; cluster of differentiation = cell count lymphocyt
      express; conduct disorder = behavior child aggress; Clostridium difficile = stool vancomyc
      toxin; cesarean delivery = pregnan labor fetal; cervical dystonia = botulin neck dyston
    CF: cystic fibrosis = cftr sputum pancrea lung pseudomon ivacaft sweat; cardiac failure =
      heart ejection edema
    CFS: chronic fatigue syndrome = fatigue exert sleep; cerebrospinal fluid = lumbar
    CHD: coronary heart disease = cholesterol smok infarct lipid coronary angina risk statin;
      congenital heart disease = congenital newborn cyano fallot septal infant surg child
    CI: confidence interval = ratio p odds hazard mean; cardiac index = output wedge; cerebral
      infarction = stroke infarct brain; cognitive impairment = memory cognit dement; cochlear
      implant = hear deaf implant
    CIN: cervical intraepithelial neoplasia = cervi pap colposc hpv; contrast-induced
      nephropathy = contrast creatin angiogr
    CIS: carcinoma in situ = bladder tumor cervi bcg; clinically isolated syndrome = sclerosis
      demyelin optic interferon
    CM: cardiomyopathy = ejection ventric heart; centimeter = mass size lesion diamet; chronic
      migraine = headache migraine botulin; cerebral malaria = malaria plasmod falcipar
    CML: chronic myeloid leukemia = imatinib philadelph bcr leukem blast
    CNS: central nervous system = brain lymphom metast nervous; coagulase-negative staphylococci
      = cultur blood staph
    CP: chest pain = troponin ecg ekg exert angina palpit sob dyspnea cardiac; cerebral palsy =
      spastic child gait botulin motor; chronic pancreatitis = pancrea alcohol steatorr; cleft
      palate = cleft lip palat
    CPP: chronic pelvic pain = pelvic endometri; central precocious puberty = puberty gnrh
      breast bone; cerebral perfusion pressure = intracran icp
    CR: complete response = partial progress tumor remiss; complete remission = leukem remiss
      relaps marrow; creatinine = bun renal mg
    CS: cesarean section = pregnan labor fetal deliver uter; Cushing syndrome = cortisol acth;
      cardiogenic shock = inotrop pump lactate; compartment syndrome = fasciot pressure
    CSA: central sleep apnea = apnea sleep polysomn; cyclosporine A = transplant graft
      immunosuppr mg; childhood sexual abuse = abuse sexual
    CTS: carpal tunnel syndrome = wrist median nerve numb hand; CT scans = scan imag
    CVS: cyclic vomiting syndrome = vomit nause; cardiovascular system = exam heart
    CV: cardiovascular = heart exam regular rhythm; coefficient of variation = assay percent
    DD: differential diagnosis = includ; developmental delay = milestone child speech;
      diverticular disease = colon diverticul
    DH: dermatitis herpetiformis = gluten dapsone blister; drug history = medic allerg
    DI: diabetes insipidus = polyur desmopress urine sodium osmol; drug interaction = inhibit
    DLB: dementia with Lewy bodies = hallucin parkinson dement
    DM: diabetes mellitus = insulin glucose a1c hba metform glyc htn hypertens obes hyperlip;
      dermatomyositis = rash muscle heliotr gottron ck; myotonic dystrophy = myoton;
      dextromethorphan = cough quinid
    DMD: Duchenne muscular dystrophy = dystroph muscle boy steroid; disease-modifying drug =
      sclerosis relaps
    DS: Down syndrome = trisomy chromos; Dravet syndrome = seizure epilep
    DT: delirium tremens = alcohol withdraw tremor; diphtheria and tetanus = vaccin toxoid
      booster
    DU: duodenal ulcer = ulcer pylori endosc; diabetic ulcer = foot wound
    EA: esophageal atresia = fistula newborn trache; enteropathy = gluten
    EB: epidermolysis bullosa = blister skin collagen
    ED: erectile dysfunction = erect sildenaf sexual penil testost libido; emergency department
      = present arriv transfer visit admit triage brought; eating disorder = anorex bulim binge;
      ectodermal dysplasia = hair teeth sweat
    EDS: Ehlers-Danlos syndrome = hypermob joint skin collagen; excessive daytime sleepiness =
      sleep narcol epworth modafin
    EE: erosive esophagitis = heal reflux esophag ppi
    EM: erythema multiforme = target rash herpes; electron microscopy = biops ultrastr; erythema
      migrans = lyme tick
    EP: ectopic pregnancy = pregnan hcg tub methotrex; electrophysiology = ablat arrhythm study;
      extrapyramidal = antipsychot rigid
    ER: emergency room = present visit brought triage; estrogen receptor = breast progest her2
      tamoxif; extended release = mg tablet daily
    ES: Ewing sarcoma = bone sarcom ewsr; extrasystole = ecg beat
    ET: essential tremor = tremor propran hand; essential thrombocythemia = platelet jak2
      hydroxyur; endotracheal = tube intub; embryo transfer = ivf embryo
    FA: Friedreich ataxia = ataxi frataxin; Fanconi anemia = marrow chromos transplant; folic
      acid = folat supplement neural; fatty acid = lipid
    FAP: familial adenomatous polyposis = polyp colect apc; familial amyloid polyneuropathy =
      transthyret amyloid
    FD: functional dyspepsia = dyspep epigastr; Fabry disease = galactosid enzyme agalsid;
      familial dysautonomia = autonom
    FH: family history = mother father sibling history; familial hypercholesterolemia = ldl
      cholester statin lipid
    FI: fecal incontinence = stool sphinct anal
    FM: fibromyalgia = pain fatigue tender pregab; fetal movement = pregnan gestation
    FMD: fibromuscular dysplasia = renal artery stenosis; flow-mediated dilation = brachial
      endothel; foot-and-mouth disease = cattle
    FMF: familial Mediterranean fever = colchic serosit mefv
    FS: febrile seizure = fever seizure child; fasting = glucose; fractional shortening = echo
      ventric
    FTT: failure to thrive = weight feed infant growth
    GA: general anesthesia = anesth intub surg; gestational age = week fetal preterm; geographic
      atrophy = macul retin; granuloma annulare = skin
    GC: gonorrhea = chlamyd std urethr discharge; gastric cancer = gastric tumor stomach;
      glucocorticoid = steroid predn
    GCS: Glasgow coma scale = score coma head trauma eye; glucocorticoids = steroid
    GI: gastrointestinal = bleed tract symptom abdom; glycemic index = diet carbohyd
    GN: glomerulonephritis = protein renal hematur biops; gram negative = bacter cultur
    GS: Gaucher = enzyme; Gilbert syndrome = bilirub; Gitelman syndrome = hypokal magnes;
      gallstones = gallbl biliar cholecyst
    GTD: gestational trophoblastic disease = molar hcg
    GU: gastric ulcer = endosc gastric pylori; genitourinary = urin exam tract
    HA: headache = migraine head nausea photoph pain; hemophilia A = factor viii bleed;
      hyaluronic acid = inject filler knee; hepatitis A = vaccin hepat
    HB: heart block = conduct pacemak; hemoglobin = anemi g/dl level; heartburn = reflux acid
    HC: head circumference = infant growth; healthy controls = control patient group;
      hydrocortisone = mg cortis; hepatitis C = hepat virus
    HD: Huntington disease = chorea huntingt cag; Hodgkin disease = lymphom node reed chemo;
      hemodialysis = dialys esrd fistula renal kidney; hospital day = admiss; Hirschsprung
      disease = megacol aganglion
    HE: hepatic encephalopathy = lactul cirrho ammon liver; hematoxylin and eosin = stain histol
    HF: heart failure = ejection diuret edema heart ventric furosem bnp; hot flashes = menopaus
      estrog; hay fever = pollen allerg; high frequency = ventilat
    HH: hiatal hernia = reflux esophag hernia; hereditary hemochromatosis = iron ferritin
      phlebot; hypogonadotropic hypogonadism = testost gonadot; homonymous hemianopia = visual
      field
    HI: head injury = trauma head; homicidal ideation = suicid psych
    HIT: heparin-induced thrombocytopenia = heparin platelet thromb argatrob; high intensity
      training = exercise train
    HL: Hodgkin lymphoma = lymphom node brentux; hearing loss = hear audiogr ear; hyperlipidemia
      = statin ldl lipid htn cholester
    HPT: hyperparathyroidism = pth parathyr calcium; hypertension = blood pressure
    HRT: hormone replacement therapy = menopaus estrogen hormon; heart rate = rate pulse bpm
    HS: hidradenitis suppurativa = abscess axill adalim; hereditary spherocytosis = hemolys
      spleen; heart sounds = murmur lung; at bedtime = mg po
    HT: hypertension = blood pressure mmhg; Hashimoto thyroiditis = thyroid tsh tpo; hormone
      therapy = estrog menopaus; hypertriglyceridemia = triglycerid
    IC: interstitial cystitis = bladder pelvic urin; informed consent = consent sign;
      inspiratory capacity = lung
    ICD: implantable cardioverter defibrillator = shock lead heart device pacemak; international
      classification of diseases = code classif
    ICH: intracerebral hemorrhage = brain hemorrh stroke intracran neuro ct headache hematoma;
      International Council for Harmonisation = gcp guideline good practice harmoni
    ICP: intracranial pressure = intracran brain csf papilled; intrahepatic cholestasis of
      pregnancy = prurit bile pregnan
    ID: intellectual disability = delay iq cognit adapt; infectious disease = consult antibio;
      iron deficiency = ferrit anemi
    IE: infective endocarditis = valve vegetation endocard bacter blood; that is = example
    IH: inguinal hernia = groin hernia mesh; infantile hemangioma = propran heman; intermittent
      hypoxia = apnea
    IM: infectious mononucleosis = ebv sore throat spleen; intramuscular = inject mg dose;
      internal medicine = resident clinic
    IPF: idiopathic pulmonary fibrosis = fibros lung nintedan pirfenid
    IS: infantile spasms = spasm hypsarr acth vigab; ischemic stroke = stroke infarct
    IT: intrathecal = methotrex pump csf; iliotibial = band knee run; information technology =
      computer system
    ITP: immune thrombocytopenic purpura = platelet bleed ivig romipl; intent to treat
      population = analys
    IVF: intravenous fluids = bolus saline hydrat liter; in vitro fertilization = embryo oocyt
      fertil
    JRA: juvenile rheumatoid arthritis = joint arthr child
    KD: Kawasaki disease = coronary aneurysm ivig fever; ketogenic diet = seizure ketosis;
      Kennedy disease = androgen
    KS: Kaposi sarcoma = hiv lesion skin; Klinefelter syndrome = xxy testost; kidney stone =
      renal colic
    LA: left atrium = atri echo dilat; lupus anticoagulant = thromb antiphosph; local anesthesia
      = lidoc block; lactic acidosis = lactate acid metform
    LAD: left anterior descending artery = coronary stent occlus lesion pci; lymphadenopathy =
      node cervic axill neck; leukocyte adhesion deficiency = leukocyt infect
    LC: lung cancer = smok lung nodule; liver cirrhosis = ascit varic
    LD: Lyme disease = tick; Legionnaires disease = legionel; learning disability = school read;
      lactate dehydrogenase = enzyme
    LE: lupus erythematosus = lupus skin ana; lower extremity = leg edema strength
    LN: lupus nephritis = lupus protein renal mycophen; lymph node = node biops dissect
    LP: lumbar puncture = csf spinal mening tap; lichen planus = oral skin lesion
    LS: lumbar spine = back film disc; lichen sclerosus = vulv clobetas; Lynch syndrome =
      colorect msi; Leigh syndrome = mitochond
    MAC: Mycobacterium avium complex = mycobact clarithr sputum hiv; monitored anesthesia care =
      anesth sedat propof; macular = retin
    MC: meningococcal = vaccin; microscopic colitis = diarr colon budeson; molluscum contagiosum
      = skin lesion papul
    MCC: Merkel cell carcinoma = merkel polyomav skin; major complication = comorb
    MCD: minimal change disease = nephrot protein podocyt; mast cell disease = tryptas
    MCI: mild cognitive impairment = memory cognit dement alzheim; myocardial infarction = heart
    MCL: mantle cell lymphoma = lymphom bortez ibrut; medial collateral ligament = knee ligament
      valgus; midclavicular line = apex
    MD: muscular dystrophy = dystroph muscle weak; macular degeneration = retin macul vision;
      doctor of medicine = physician dr signed; major depression = depress antidepress; mean
      difference = ci; Meniere disease = vertigo tinnit hear
    MDR: multidrug resistant = tubercul resist
    ME: myalgic encephalomyelitis = fatigue; medical examiner = autops death; macular edema =
      retin vitre
    MF: mycosis fungoides = skin lymphom cutan; myelofibrosis = spleen ruxolit jak2
    MG: myasthenia gravis = ptosis acetylchol pyridost thymect diplop weak; magnesium = level
      replet; milligram = dose daily
    MH: malignant hyperthermia = dantrol anesth succinyl; mental health = psych counsel; macular
      hole = retin vitrect; menorrhagia = bleed
    MI: myocardial infarction = htn cad statin aspirin diabet troponin coronary st cardiac ecg
      ekg cath heart angina chest stent pci infarct thrombol stroke; mitral insufficiency =
      valve murmur mitral; motivational interviewing = interview counsel; mental illness = psych
    MM: multiple myeloma = myelom bortez lenalid protein plasma; malignant melanoma = melanom
      skin; medial meniscus = knee
    MMD: moyamoya disease = moyamoy; major depression = depress
    MN: membranous nephropathy = protein nephrot pla2r; motor neuron = weak
    MND: motor neuron disease = weak bulbar fascicul
    MR: mitral regurgitation = valve murmur mitral echo; mental retardation = iq develop
      intellect; magnetic resonance = imag brain scan; modified release = tablet
    MS: multiple sclerosis = relaps demyelin gait optic interfer lesion brain mri edss natalizum
      glatir myelin spastic; mitral stenosis = valve murmur rheumat mitral atri diastol;
      morphine sulfate = mg pain pca opioid; mental status = alert orient confus; metabolic
      syndrome = waist insulin triglycer obes; musculoskeletal = exam joint range; mass
      spectrometry = chromatog assay
    MTC: medullary thyroid carcinoma = calciton thyroid ret men2
    MV: mitral valve = mitral prolaps regurg; mechanical ventilation = ventilat intub respirat
    MVP: mitral valve prolapse = mitral click murmur
    NA: sodium = potass serum meq; not applicable = none
    NB: neuroblastoma = mycn adrenal; newborn = birth mother
    NE: norepinephrine = pressor dopam; necrotizing enterocolitis = preterm
    NEC: necrotizing enterocolitis = preterm infant neonat bowel feed; not elsewhere classified
      = code
    NF: neurofibromatosis = neurofibr cafe; necrotizing fasciitis = fascii debrid
    NP: nasal polyps = nasal sinus polyp; nurse practitioner = seen clinic; neuropathic pain =
      gabapen pain
    NPC: nasopharyngeal carcinoma = nasophar ebv radioth; Niemann-Pick type C = miglust cholest
    NS: nephrotic syndrome = protein albumin edema; normal saline = iv bolus infus ml; Noonan
      syndrome = pulmon short; not significant = p
    OA: osteoarthritis = knee hip joint pain cartilag nsaid arthropl; occiput anterior = labor
      deliver; open angle = glauc
    OC: oral contraceptive = contracep estrog; ovarian cancer = ovar ca125 platin
    OCD: obsessive-compulsive disorder = compuls obsess ssri anxi; osteochondritis dissecans =
      knee cartil
    OD: overdose = ingest drug nalox opioid suicid; right eye = vision visual acuity; once daily
      = mg
    OI: osteogenesis imperfecta = fractur collagen bone; opportunistic infection = hiv cd4 aids
    OM: otitis media = ear tympan amoxic; osteomyelitis = bone foot antibio
    ON: optic neuritis = vision optic pain eye; osteonecrosis = hip femor jaw; overnight = night
    OP: osteoporosis = bone bmd fractur bisphosph; outpatient = clinic; operation = surg;
      occiput posterior = labor
    OS: overall survival = progress median month trial; left eye = vision visual acuity;
      osteosarcoma = bone sarcom
    PA: pernicious anemia = b12 cobalam; psoriatic arthritis = psoria; physician assistant =
      seen clinic; pulmonary artery = pulmon pressur cathet; primary aldosteronism = aldost
      renin; posteroanterior = film chest
    PAF: paroxysmal atrial fibrillation = atrial palpit; platelet-activating factor = platelet
    PAN: polyarteritis nodosa = vasculit aneurysm
    PC: prostate cancer = psa prostat androg; pancreatic cancer = pancrea gemcit; palliative
      care = hospic palliat; pheochromocytoma = catechol
    PCN: penicillin = allerg rash anaphyl hives; percutaneous nephrostomy = tube kidney urolog
      hydroneph
    PCP: Pneumocystis pneumonia = hiv pneumocyst trimeth cd4 aids; primary care physician =
      follow visit refer appoint; phencyclidine = drug abuse urine screen
    PCT: porphyria cutanea tarda = porphyr blister; procalcitonin = sepsis level
    PD: Parkinson disease = levod tremor rigid bradykin dopamin parkins motor gait; peritoneal
      dialysis = dialys periton renal esrd; panic disorder = panic anxi; progressive disease =
      respons tumor stable recist; personality disorder = borderl antisoc; Peyronie disease =
      penil curvat; periodontal disease = dental teeth gum
    PDA: patent ductus arteriosus = ductus preterm indometh neonat murmur; posterior descending
      artery = coronary stent
    PE: pulmonary embolism = chest sob dvt thromb embol angiogr d-dimer dimer heparin anticoag
      dyspn ct wells pleurit; physical examination = vital heent exam lungs abdom; pleural
      effusion = effus pleural thoracent; preeclampsia = pregnan gestation protein magnes;
      pulmonary edema = edema furosem; pectus excavatum = stern deform wall thorac; phenytoin
      equivalents = mg fosphen
    PEG: percutaneous endoscopic gastrostomy = tube feed stomach; polyethylene glycol = laxat
      bowel constip pegyl
    PF: plantar fasciitis = heel foot; pulmonary fibrosis = lung fibros; pemphigus foliaceus =
      blister
    PH: pulmonary hypertension = pulmon pressur right sildenaf bosent; primary hyperoxaluria =
      oxal; past history = history; prostatic hyperplasia = prostat
    PKD: polycystic kidney disease = renal kidney cyst; paroxysmal kinesigenic dyskinesia =
      dyskines movement
    PI: principal investigator = investig study; protease inhibitor = hiv; primary
      immunodeficiency = immunoglob
    PJP: Pneumocystis jirovecii pneumonia = hiv pneumocyst trimeth
    PM: polymyositis = muscle myosit ck; pacemaker = pace lead; afternoon = am
    PMS: premenstrual syndrome = menstr mood bloat; postmarketing surveillance = market
    PN: peripheral neuropathy = numb neurop tingl; parenteral nutrition = nutrit tpn;
      pyelonephritis = flank urin; progress note = note
    PNA: pneumonia = cough fever sputum infiltr antibio ceftriax consolid lung hypox cxr oxygen
      treat respirat; peptide nucleic acid = probe hybrid
    PP: pulsus paradoxus = tampon; pulse pressure = systol; postpartum = deliver; psychosis =
      psych; per protocol = analys population; pityriasis = rash
    PPD: purified protein derivative = tubercul skin indurat quantiferon isoniaz; packs per day
      = smok cigar tobacco pack; postpartum depression = partum mother baby deliver mood
    PR: partial response = complet progress tumor; per rectum = rect bleed exam; pityriasis
      rosea = rash; progesterone receptor = estrog breast her2; pulse rate = bp
    PROM: premature rupture of membranes = membran labor pregnan gestat; passive range of motion
      = shoulder knee therap exercis flexion
    PS: pulmonary stenosis = valve murmur pulmon; performance status = ecog karnof; pyloric
      stenosis = vomit infant olive; postscript = letter
    PSC: primary sclerosing cholangitis = bile duct cholang liver ursodiol colit; valspodar =
      833 paclitax doxorub
    PT: physical therapy = gait exercis rehab strength; prothrombin time = inr ptt coagul;
      patient = year male female
    PTB: pulmonary tuberculosis = tubercul sputum; preterm birth = gestation labor week
    PV: polycythemia vera = phlebot jak2 hematocr; pemphigus vulgaris = blister oral; per
      vaginam = vagin bleed; portal vein = liver
    PVC: premature ventricular contraction = ectop beat holter palpit; polyvinyl chloride =
      plastic tube
    PVD: peripheral vascular disease = claudic leg bypass pulse; posterior vitreous detachment =
      floater flash vitre
    RA: rheumatoid arthritis = joint methotrex tnf rheumat arthr synov dmard swollen; right
      atrium = atri echo cathet pressur; room air = saturat oxygen sat spo2; refractory anemia =
      blast myelodys; retinoic acid = retino; renal artery = stenos
    RAD: reactive airway disease = wheez albuter asthma; radiation = dose
    RCC: renal cell carcinoma = kidney renal sunitin nephrect; red cell concentrate = transfus
    RD: retinal detachment = retin vision vitre floater; registered dietitian = diet nutrit;
      Raynaud disease = finger cold; renal disease = kidney
    RF: renal failure = creatin dialys kidney; rheumatoid factor = arthr joint ccp; rheumatic
      fever = strep carditis valve; respiratory failure = intub ventil; radiofrequency = ablat;
      risk factor = smok
    RLS: restless legs syndrome = leg sleep iron dopamin ropin
    RP: retinitis pigmentosa = retin night vision; radical prostatectomy = prostat psa; Raynaud
      phenomenon = finger cold sclero; relapsing polychondritis = cartil
    RR: respiratory rate = breath bp pulse hr temp; relative risk = ci ratio; relapse rate =
      relaps
    RS: Reye syndrome = aspirin; Rett syndrome = mecp; Reiter syndrome = urethr; Richter
      syndrome = lymphom
    RSD: reflex sympathetic dystrophy = pain limb; relative standard deviation = assay
    RSI: repetitive strain injury = wrist typing keyboard; rapid sequence intubation = intubat
      etomid rocuron
    RT: reverse transcriptase = hiv viral nucleosid inhibitor virion; radiation therapy = gy
      tumor cancer dose fraction; respiratory therapy = ventil; renal transplant = graft; right
      = side
    RTA: renal tubular acidosis = bicarb acid potass; road traffic accident = trauma vehicl
      collis
    SA: septic arthritis = joint aspir cultur; suicide attempt = suicid; sleep apnea = cpap;
      stable angina = chest nitr; sinoatrial = node; substance abuse = drug alcohol
    SAD: seasonal affective disorder = light winter mood; social anxiety disorder = social anxi
    SAH: subarachnoid hemorrhage = aneurysm headach nimodip vasospas brain hemorrh thunderclap
      neurosurg clip; severe alcoholic hepatitis = alcohol predn liver; S-adenosyl homocysteine
      = methyl
    SB: spina bifida = neural shunt; small bowel = bowel obstr; sinus bradycardia = rate ecg;
      stillbirth = fetal
    SBO: small bowel obstruction = bowel vomit abdom ng distens adhes lapar flatus; spina bifida
      occulta = spine sacral film lumbar
    SBP: spontaneous bacterial peritonitis = ascit cirrho paracent periton; systolic blood
      pressure = mmhg dbp hypertens pressur blood systol
    SC: sickle cell = hemoglob cris; subcutaneous = inject dose; spinal cord = injur; squamous
      carcinoma = squam
    SCA: sickle cell anemia = sickl hemoglob cris; spinocerebellar ataxia = ataxi cerebell gait
    SCC: squamous cell carcinoma = head neck skin tumor squam lung; spinal cord compression =
      cord metast weak
    SCD: sickle cell disease = sickl hydroxyur hemoglob crisis vaso; sudden cardiac death =
      arrhythm icd defibril sudden; subjective cognitive decline = memory
    SCI: spinal cord injury = cord injur parapleg tetrapl; science = research
    SCID: severe combined immunodeficiency = lymphocyt infant marrow bubble; structured clinical
      interview = dsm interview axis diagnos psych
    SD: standard deviation = mean; stable disease = respons progress; seborrheic dermatitis =
      scalp dandr; sleep disorder = insomn; systemic disease = organ
    SDB: sleep-disordered breathing = apnea snor sleep
    SE: status epilepticus = seizure lorazep; side effect = drug; standard error = mean
    SI: suicidal ideation = suicid homicid depress psych; sacroiliac = joint back; stress
      incontinence = urin leak
    SJS: Stevens-Johnson syndrome = mucos rash drug; Schwartz-Jampel syndrome = myoton
    SM: systemic mastocytosis = mast tryptas; sports medicine = athlet; self-management = educat
    SMA: spinal muscular atrophy = smn nusiners weak infant; superior mesenteric artery =
      mesenter bowel
    SOB: shortness of breath = dyspn breath chest cough exert edema orthopn lung heart wheez
      fever palpit oxygen; side of bed = bed sat dangl
    SP: status post = surg; schizophrenia = psych; social phobia = social anxi; suprapubic =
      cathet
    SS: Sjogren syndrome = dry eye mouth; sickle cell = hemoglob; systemic sclerosis = skin
      raynaud; serotonin syndrome = ssri clonus; sliding scale = insulin; Sezary syndrome =
      lymphom; short stature = growth
    SSC: systemic sclerosis = skin raynaud fibros; surviving sepsis campaign = sepsis
    SSI: surgical site infection = wound incis; supplemental security income = disab benefit;
      sliding scale insulin = glucose
    ST: sinus tachycardia = rate rhythm; ST segment = elevat depress; speech therapy = swallow
      speech
    STS: soft tissue sarcoma = sarcom; serologic test for syphilis = syphil; society of thoracic
      surgeons = score
    SVT: supraventricular tachycardia = adenos palpit rhythm; superficial vein thrombosis = vein
      saphen thromb
    TA: temporal arteritis = vision headach jaw; Takayasu arteritis = aort puls; truncus
      arteriosus = heart
    TB: tuberculosis = rifamp isoniaz sputum mycobact tubercul cough hiv latent ppd; total
      bilirubin = bilirub liver alt
    TD: tardive dyskinesia = dyskin antipsychot; tetanus and diphtheria = vaccin booster;
      traveler's diarrhea = travel diarr; Tourette disorder = tic; transdermal = patch
    TGA: transposition of the great arteries = heart cyan switch; transient global amnesia =
      memory amnes
    TIA: transient ischemic attack = stroke weak speech aspir
    TM: tympanic membrane = ear canal; transverse myelitis = cord weak; thalassemia major =
      transfus
    TN: trigeminal neuralgia = facial carbamaz; triple negative = breast
    TOS: thoracic outlet syndrome = arm brachial; toxic oil syndrome = oil
    TR: tricuspid regurgitation = valve tricus echo; trace = urine
    TS: Tourette syndrome = tic; Turner syndrome = turner xo short; tuberous sclerosis = seizure
      angiofib; tricuspid stenosis = valve; trauma surgery = trauma
    TSC: tuberous sclerosis complex = seizure everol angiomyol; total symptom count = score
    TTP: thrombotic thrombocytopenic purpura = plasma platelet schistoc adamts; time to
      progression = median surviv tumor respons
    UA: unstable angina = chest coronary infarct; urinalysis = urine nitrit leuk; uric acid =
      gout; umbilical artery = doppler
    UC: ulcerative colitis = colit bowel colon mesalam stool rect; urothelial carcinoma =
      bladder; urgent care = visit; uterine contractions = labor; usual care = random
    UE: upper extremity = arm strength
    UI: urinary incontinence = urin leak bladder; uterine = pregnan
    UL: uterine leiomyoma = fibroid; upper limb = arm; ulcer = wound
    US: ultrasound = scan doppler; United States = american
    VAP: ventilator-associated pneumonia = ventilat intub icu tracheal sputum; vincristine,
      doxorubicin and prednisone = regimen arm cycle vincrist doxorub predniso
    VC: vocal cord = voice hoars; vital capacity = lung; vomiting center = emet
    VF: ventricular fibrillation = defibril arrest shock; visual field = vision glauc
    VH: visual hallucination = hallucin; vitreous hemorrhage = vitre retin diabet
    VL: visceral leishmaniasis = leishman spleen; viral load = hiv copies
    VP: ventriculoperitoneal = shunt hydroceph; variegate porphyria = porphyr
    VS: vital signs = bp pulse temp; vestibular schwannoma = hear acoust; vegetative state =
      coma
    VT: ventricular tachycardia = icd amiodar arrhythm ventric defibril; vascular tumor = heman
    VV: varicose veins = leg vein
    WD: Wilson disease = copper cerulopl; wound = dress; well developed = nourish
    WG: Wegener granulomatosis = granulom anca vasculit
    WM: Waldenstrom macroglobulinemia = igm lymphoplasm; white matter = brain; white male = year
    WS: Williams syndrome = elast; West syndrome = spasm; Werner syndrome = progeri
    YF: yellow fever = vaccin mosquit
"""


class _Reading(NamedTuple):
    """A reading of an abbreviation, with the beginnings of words beside it, which rise."""

    text: str
    beside: tuple[str, ...]


@functools.cache
def _several() -> Mapping[str, tuple[_Reading, ...]]:
    readings: dict[str, tuple[_Reading, ...]] = {}
    for line in _TABLE.replace("\n      ", " ").strip().splitlines():
        short, _, rest = line.strip().partition(":")
        pairs = (entry.split("=") for entry in rest.split(";") if entry.strip())
        readings[short] = tuple(
            _Reading(text.strip(), tuple(sorted({*beside.split(), *_words_of(text)})))
            for text, beside in pairs
        )
    return readings


# --- choosing -------------------------------------------------------------------------------------

_WORD = regex(r"[^\W_]+(?:-[^\W_]+)*")
# A number behind makes a substance of it: "PSC 833".
_SHORT = regex(r"(?<![\w/+&.-])[^\W\d_]{2,8}(?![\w/+&-]|[ ]\d{2})")
_LEAST = 4  # letters of a beginning; shorter ones are words

OPEN_ABBREVIATIONS = frozenset({"AS", "ASD", "BPD", "CD", "CHD", "SAD"})
"""Each of these names two diseases about as often, by the specialty."""


def clinical_readings(text: str) -> dict[str, str]:
    """Return what the clinical abbreviations of a text stand for in it, those that are sure.

    >>> clinical_readings("PE was ruled out by CT angiography. HTN.")
    {'PE': 'pulmonary embolism', 'HTN': 'hypertension'}
    >>> clinical_readings("On PE the lungs are clear, abdomen soft."), clinical_readings("MS today")
    ({'PE': 'physical examination'}, {})
    """
    several = _several()
    shorts = dict.fromkeys(match[0] for match in _SHORT.finditer(text))
    asked = [short for short in shorts if _singular(short) in several]
    readings: dict[str, str] = {}
    words = sorted({word.lower() for word in _WORD.findall(text)}) if asked else []
    for short in shorts:
        if (singular := _singular(short)) in several:
            others = [word for word in words if word != short.lower()]
            reading = _choose(several[singular], others)
        else:
            reading = text_readings().get(short, "")
        if reading:
            readings[short] = reading
    return readings


def readings_of(text: str) -> tuple[str, ...]:
    """Return what an abbreviation that is all of a text may stand for, in the order of the table.

    >>> readings_of("PVC"), readings_of("RLS"), readings_of("CP on exertion")
    (('premature ventricular contraction', 'polyvinyl chloride'), ('restless legs syndrome',), ())
    """
    short = _singular(text.upper() if text.islower() else text)
    if several := _several().get(short):
        return tuple(reading.text for reading in several)
    return tuple(filter(None, [text_readings().get(short) or diabetes_name(text)]))


def has_usual(short: str) -> bool:
    """Tell whether one reading of an abbreviation is more usual than the others."""
    return _singular(short.upper()) not in OPEN_ABBREVIATIONS


def has_several(short: str) -> bool:
    """Tell whether an abbreviation has several readings, between which a text chooses."""
    return _singular(short) in _several()


def _singular(short: str) -> str:
    return short[:-1] if short[-1:] == "s" and short[:-1].isupper() else short


def _choose(readings: Sequence[_Reading], words: Sequence[str]) -> str:
    """Return the reading with most of its words among these, which rise; "" where none leads."""
    counts = [sum(_begins(words, stem) for stem in reading.beside) for reading in readings]
    most = max(counts)
    return readings[counts.index(most)].text if most and counts.count(most) == 1 else ""


def _begins(words: Sequence[str], stem: str) -> bool:
    """Tell whether some word begins with a stem; a short one is a word itself."""
    place = bisect_left(words, stem)
    if place == len(words):
        return False
    return words[place] == stem or (len(stem) >= _LEAST and words[place].startswith(stem))


def _words_of(text: str) -> Iterable[str]:
    """Return the words of a reading that speak for it where the text has them."""
    return (word.lower() for word in _WORD.findall(text) if len(word) > _LEAST)
