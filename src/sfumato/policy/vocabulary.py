"""The words by which columns and values are recognised, in several languages; lower case, without accents.

A *word* is a whole word of a column's name, a *stem* the beginning of one: "diagnos" is in "Diagnose", "diagnoses" and
"diagnóstico". Nothing here decides anything; `roles` does.
"""

from __future__ import annotations

from dataclasses import dataclass


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _stems(text: str) -> tuple[str, ...]:
    return tuple(text.split())


@dataclass(frozen=True)
class Lexicon:
    """Words and stems that mean one thing."""

    called: str
    words: frozenset[str]
    stems: tuple[str, ...] = ()

    def meets(self, words: frozenset[str]) -> bool:
        """Return whether one of these words is among them."""
        return bool(words & self.words) or any(word.startswith(self.stems) for word in words)


PERSONAL = Lexicon(
    "it is called like a person's name, address or contact",
    _set("""
        mail tel mobile cell fax handy street str rue calle via rua ulica straat dni nif nie nin nss siren ssn nhs sin cpf pesel
        bsn cnp ahv avs chi url website homepage ip lat lon lng latitude longitude coordinates gps comment comments note notes
        remark remarks freetext narrative bemerkung bemerkungen kommentar commentaire commentaires observaciones signature
        nickname alias initials username login twitter facebook vorname prenom surname lastname firstname forename apellido
        apellidos cognome sobrenome achternaam voornaam nazwisko imie
    """),
    _stems("""
        surname firstname lastname middlename forename fullname maidenname email phone telephon passport iban address vorname
        nachname familienname telefon handynummer mobilnummer adres anschrift strasse sozialversicherung steuernummer prenom
        courriel apellido correo direccion indirizzo cognome endereco morada sobrenome achternaam voornaam nazwisko efternamn
        fornamn licenceplate licenseplate kennzeichen housenumber hausnummer username birthname patientname socialsecurity
        codicefiscale nationalid ipaddress macaddress
    """),
)
"""What names a person or leads to one, however often a value repeats."""

NAMES = _set("name names nom noms nombre nombres nome nomi naam naams namn navn nazwa")
OF_PEOPLE = _set("""
    first last full family given middle maiden birth legal the patient patients person persons employee customer client member
    user student pupil respondent defendant offender victim witness teacher doctor physician mother father parent spouse owner
    holder officer judge inmate de del la du famille completo complet propio usual propre di battesimo da mae
""")
"""With these a name is a person's: a "first name", but not a "drug name"."""

FAMILY_NAMES = Lexicon(
    "a person's name",
    _set("surname prenom imie nazwisko cognome apellido apellidos sobrenome nickname alias initials"),
    _stems("""
        surname firstname lastname middlename forename fullname maidenname vorname nachname familienname achternaam voornaam
        efternamn fornamn birthname patientname
    """),
)

ALONE = _set("first last given family middle")
"""What a column with a person's name may be called in one word."""

NUMBERING = _set("id ids uid uuid guid pid key nr number no nummer numero num code ref reference matricola matricule")
"""What a column of numbers or codes is often called; of people only if its values hardly repeat, or with a word for people."""

PERSON = Lexicon(
    "it is called like a person's number",
    _set("""
        patient person persons employee customer client member user mrn subject participant respondent student pupil inmate
        defendant offender victim applicant claimant policyholder citizen individual case record account licence license
        beneficiary subscriber encounter matricule matricola matricula dossier ipp nip personalnummer personnummer card kunde
        kunden versicherte versicherten mitglied patienten patiente paciente paziente cliente clients usuario alumno empleado
        salarie eleve etudiant persona personne pessoa utente klient pacjent osoba studente dipendente adherent barcode hospid hn
        chart admission visit enrolment order transaction invoice passport insurance booking docket file
    """),
    _stems("""
        patientid patientn personid personn subjectid clientid clientn customerid customern memberid employeeid employeen
        studentid studentn userid participantid caseid casen recordid respondentid kundenn patientenn versichertenn mitgliedsn
        personaln aktenzeichen fallnummer matrikel accountn accountid registrationn medicalrecord
    """),
)
"""With a word for numbering, or alone, these are keys of people or of what happened to them."""

KEYS = _set("""
    mrn matricule matricola matricula matrikelnummer ipp nip personalnummer personnummer pid barcode aktenzeichen psn upid
    pseudonym
    pseudonyme pseudonymid
""")
"""Keys of people by themselves: numbers, and pseudonyms, which are numbers of people under another name."""

SHORT = _set("pid id uid nip ipp")
"""Keys of people that mean other things too, such as a party: they number people only where values are many."""

ILLNESSES = Lexicon("illnesses", _set("icd icd9 icd10 icd9cm icd10cm dx diag"), _stems("diagnos icd9 icd10"))
"""What a column with codes of illnesses is called."""

CODED = Lexicon(
    "codes",
    _set("""
        occupation occupations occp occ occ1990 occ2010 socp soc isco kldb noc industry industries ind indp naics
        naicsp sic nace noga isic cpt drg atc ndc beruf berufe profession beroep zawod
    """),
    _stems("occupation naics berufs"),
)
"""Names under which numbers are codes without an order."""

HOUSEHOLDS = _set("hid ihid hhid serial serialno household householdid hhnr haushaltsnummer hogarid idhogar")
"""Numbers of households in surveys; a word for a household's kind or size too, where values are few."""

UNITS = _set("psu psus cluster clusters stratum strata ssu")
"""Sampling units of surveys."""

BIRTH = Lexicon(
    "a date of birth",
    _set("dob birth born bday birthday birthdate naissance nacimiento nascita nascimento geboorte urodzenia fodelse fodsel"),
    _stems("birth geburt geboren dateofbirth geboorte urodz naciment"),
)

COUNTING = _set("""
    count counts anzahl number num nr n nb no nombre numero numar liczba aantal total sum freq frequency times previous prior
""")
DURATIONS = _set("""
    days day weeks months years time duration length los stay date datum fecha data day_of since until start end from to age alter
""")

WEIGHTS = _set("""
    weight weights wgt wgts pweight fweight aweight pwgt fnlwgt perwt hhwt gewicht gewichtung hochrechnungsfaktor ponderation
    ponderacion peso wt wts wght pwgtp wgtp pspwght dweight anweight asecwt wtfinl finalwt finalwgt sampwt pond pondera
    ponderador poids factorexp
""")
BODILY = _set("kg lb lbs g grams pounds body birth koerper korper height")
"""With these a weight is a body's, and not a survey's."""

PLACES = _set("postcode postal zip zipcode plz postleitzahl npa cap postcodes postnummer pincode")

HEALTH = Lexicon(
    "health",
    _set("""
        dx icd icd9 icd10 proc hiv aids drg medical bmi pregnant pregnancy alcohol drug drugs rx blood std cd4 icu
        mental maladie diag krankheit befund pflegegrad allergy allergies vaccine vaccinated genotype gene mutation covid
        a1c a1cresult hba1c glucose glu cholesterol qsmk smk cig cigs cigarette cigarettes chcond chronic abuse abused
        drinks drinking drinker drunk health disea mdvis physlm sick asthma cesd phq rauchen fumeur fumador
    """),
    _stems("""
        diagnos disease illness sickness disorder infect symptom medic treatment therap disabilit prescri procedure surgery
        comorbid injur handicap erkrank behandlung behinderung maladie traitement enfermedad tratamiento discapacidad malattia
        doenca ziekte chorob sjukdom healthcond condition depress psychiatr suicid abortion tumor tumour cancer diabet insulin
        genetic toxicol overdose readmi hlth smok addict rehospital vaccin
    """),
)
SEXUALITY = Lexicon(
    "sexuality",
    _set("lgbt lgbtq queer gay lesbian"),
    _stems("orientation sexualorient sexuality genderidentity transgender"),
)
PRIVATE_LIFE = Lexicon(
    "private life",
    _set("affair affairs infidelity adultery extramarital cheating gun guns owngun firearm firearms weapon weapons"),
    _stems("extramarit infidel"),
)
CRIME = Lexicon(
    "crime",
    _set("""
        charge charges verdict sentence sentenced plea recidivist recid jail prison probation bail delit reato crimen delito straf
        decile
    """),
    _stems("""
        offence offense crime crimin felony misdemean convict arrest recidiv victimi straftat verurteil vorstrafe infraction
        condamn conden violation przestep misdrijf
    """),
)
BELIEF = Lexicon(
    "belief",
    _set("faith church creed god cult konfession kirche glaube culte union unions gewerkschaft syndicat"),
    _stems("religio belief denominat croyance konfession godsdienst wyznan"),
)
POLITICS = Lexicon(
    "politics",
    _set("party vote voted voting ballot ideology partei parti partido partito partij partia"),
    _stems("politic politik voter wahl"),
)
MONEY = Lexicon(
    "money",
    _set("""
        salary income wage wages pay earnings debt debts loan loans balance wealth assets savings capital gain gains prewage
        revenue profit bonus pension pensions benefit benefits welfare mortgage credit spending expenses rent lohn gehalt schulden
        vermogen salaire revenu salario ingreso ingresos renta sueldo stipendio reddito rendimento loon inkomen dochod zarobki
        pensja fnl insolvency bankruptcy
    """),
    _stems("einkommen gehalt salair salari verdienst schuld vermoegen incom earning wage ingres deuda dette"),
)
VIEWS = Lexicon(
    "opinions and ratings",
    _set("""
        rate rates rating ratings rated opinion opinions attitude attitudes happy happiness satisfaction satisfied trust approval
        stimmung zufriedenheit meinung satisfaction opinione
    """),
    _stems("satisf zufried happi opinion"),
)
"""Who names none of the others: what a person thinks, and did not say to everybody."""

SECRETS = (HEALTH, SEXUALITY, CRIME, BELIEF, POLITICS, MONEY, PRIVATE_LIFE, VIEWS)
"""What people keep secret, the strongest first."""

NOTHING = _set("""
    no none nil 0 false negative neg never normal missing unknown na nan null absent without not nothing nobody nein kein keine
    keiner nie niemals falsch negativ unauffallig fehlt fehlend unbekannt non aucun aucune jamais faux negatif manquant inconnu
    rien ningun ninguno ninguna nunca falso negativo desconocido ausente nada nao nenhum nenhuma mai nessuno nessuna niente
    sconosciuto assente nee geen nooit onwaar negatief normaal onbekend ontbreekt brak zaden zadna nigdy falsz negatywny
    normalny nieznany nej ingen inga inget aldrig falskt negativt okand normale
""")
"""Values that say that there is nothing: a majority of them may be told, if that there is *something* is the secret."""

NEGATIONS = _set("""
    no none not never without kein keine keiner ohne aucun aucune sans pas ningun ninguna sin nenhum nenhuma sem nessun nessuno
    nessuna senza geen zonder brak bez ingen inga utan
""")
"""Words that say, before a word of `NEGATED`, that there is nothing; "no contest" and "non-Hodgkin lymphoma" are something."""

NEGATED = _set("""
    disease diseases illness illnesses disorder disorders history finding findings diagnosis diagnoses complaint complaints
    problem problems symptom symptoms treatment treatments medication medications medicine medicines drug drugs condition
    conditions event events record records recorded change changes abnormality abnormalities complication complications
    comorbidity comorbidities allergy allergies known reported applicable available tested taken given prescribed present
    detected data information value answer response result results infection injury disability conviction convictions arrest
    arrests offence offense debt debts of any the at all for befund krankheit krankheiten erkrankung erkrankungen diagnose
    diagnosen beschwerden bekannt angabe angaben behandlung medikament medikamente allergie allergien maladie maladies
    diagnostic resultat donnees traitement antecedents enfermedad enfermedades hallazgo hallazgos diagnostico dato datos
    tratamiento doenca doencas dados malattia malattie diagnosi ziekte ziektes klachten choroby rozpoznania sjukdom sjukdomar
""")
"""What may be said to be missing, and words between."""

LETTERS = {"n": _set("y j o s t"), "f": _set("t")}
"""Letters that say that there is nothing, beside the letter for the contrary: an F beside an M is a sex, or a felony."""

SOMETHING = _set("yes y true t 1 ja wahr oui vrai si sim vero waar tak prawda positive positiv present always")
"""Values that say that there is something, and not what."""

DOUBTFUL = _set("owngun decile rate abuse chcond qsmk")
"""Words of secrets that may mean something harmless too."""

ABSENT = _set(
    "missing unknown na nan null fehlt fehlend unbekannt manquant inconnu desconocido sconosciuto onbekend nieznany okand"
)
"""Values that say that nothing is known."""

ABSENCE = Lexicon(
    "what it tells that there is none",
    _set("""
        income incomes salary salaries wage wages pay earnings prewage revenue lohn gehalt salaire revenu salario ingreso ingresos
        sueldo stipendio reddito loon inkomen dochod zarobki pensja insurance insured insurer coverage versicherung krankenkasse
        assurance seguro assicurazione verzekering ubezpieczenie work works working worker job jobs occupation employment employer
        arbeit beruf emploi travail trabajo empleo lavoro werk praca residence residency resident housing home homeless
        vaccine vaccinated immunized immunised geimpft ungeimpft vax vaxxed
    """),
    _stems("""
        incom einkommen verdienst wage vaccin impf
        employ unemploy residen wohn insur versicher immuni geimpf vacun vacin vax inocul szczep
    """),
)
"""Where absence is the secret: no income, no insurance, no work, no vaccination, no residence."""

MAYBE_SECRET = Lexicon(
    "work or marks",
    _set("""
        occupation job beruf profession profesion professione beroep zawod grade grades score scores mark marks note
        performance gpa tax taxes
    """),
    _stems("occupation jobtitle perform"),
)
"""What is a secret in one table and known to everybody in another."""

CARE = "where and when they were seen"
SITES = _set("ward clinic hospital unit station practice provider gppractice site")
"""Where somebody was treated or asked: codes without an order, whatever they look like."""

NUMBERED = SITES | _set("gp id code no nr number type")
"""Words of a name that says no more than which site it is; "time in hospital" is something else."""

KNOWN = (
    Lexicon(
        "age",
        _set("age ages alter lebensalter edad eta idade leeftijd wiek alder agegroup agegrp ageband jahrgang"),
        _stems("altersgr"),
    ),
    Lexicon("sex", _set("sex gender geschlecht sexe genre sexo genero sesso genere geslacht plec kon male female woman man")),
    Lexicon(
        "origin",
        _set("""
            race races ethnicity ethnic nationality country land pays pais paese kraj citizenship native birthplace geburtsort
            hautfarbe black white hispanic latino asian nonwhite minority indigenous aboriginal foreign foreigner
        """),
        _stems("ethni nationalit nacionalid nazionalit staatsang herkunft citizen immigra migra"),
    ),
    Lexicon(
        "where they live",
        _set("""
            region regions state province county district city town municipality borough area urban rural bundesland kanton canton
            commune comune provincia departement gemeinde ort stadt stad ville ciudad citta cidade gemeente gmina miasto metro
            puma msa geo location site centre center south north east west southern northern smsa metropolitan suburb suburban
            popul population
        """)
        | PLACES,
        _stems("wojewod postcode residen municip"),
    ),
    Lexicon(
        "family",
        _set("""
            marital marriage married civil familienstand relationship household haushalt hogar foyer menage children child kinder
            enfants hijos figli filhos kinderen dzieci parents siblings famsize hhsize spouse matrimonial housing tenure wohnung
            dwelling
        """),
        _stems("estadociv etatciv statociv burgerlij haushalt household"),
    ),
    Lexicon(
        "education",
        _set("""
            education educ school degree schooling bildung diplome diploma estudios istruzione opleiding schule schulabschluss
            faculty major course programme program semester klasse college university
        """),
        _stems("educa wykszt ausbild schulab qualific"),
    ),
    Lexicon(
        "work",
        _set("""
            workclass employment employer sector industry branche branch hours shift company firm business team contract fulltime
            parttime seniority tenure department dept abteilung position
        """),
        _stems("employ arbeits"),
    ),
    Lexicon(
        CARE,
        SITES
        | _set("""
            insurance insurer payer admitted admission admissions
            discharge discharged visit
            visited hired enrolled enrollment enrolment joined registered versicherung krankenkasse kasse assurance seguro
            ospedale aufnahme entlassung year jahr annee ano anno rok jaar month monat mois quarter season wave cohort term
        """),
        _stems("admit admiss discharg aufnahm entlass enrol ingreso_ ricover"),
    ),
    Lexicon("language", _set("language sprache langue idioma lingua taal jezyk veteran")),
)
"""What others may well know of a person."""

SIZES = _set("""
    popul population children child kinder enfants hijos figli filhos kinderen dzieci parents siblings famsize hhsize
""")
"""What others may know as a number of people: no code of a place or of a kind of family."""

EVENTS = _set("""
    admitted admission admissions discharge discharged visit visited hired enrolled enrollment enrolment joined registered
    aufnahme entlassung year jahr annee ano anno rok jaar month monat mois quarter season wave date datum
""")
"""When something happened to a person that others may have seen."""

SEX_VALUES = _set("""
    m f w d x male female man woman men women mannlich weiblich divers maennlich homme femme masculin feminin hombre mujer
    masculino femenino feminino maschio femmina vrouw mezczyzna kobieta other unknown u nonbinary
""")
KNOWN_VALUES = {
    "marital status": _set("""
        married single divorced widowed separated nevermarried marriedcivspouse marriedspouseabsent marriedafspouse ledig
        verheiratet geschieden verwitwet celibataire marie mariee divorce divorcee veuf veuve soltero soltera casado casada
        divorciado viudo viuda celibe nubile sposato vedovo unmarried partnership cohabiting partnered
    """),
    "origin": _set("""
        white black asian hispanic latino caucasian africanamerican asianpacislander amerindianeskimo nativeamerican
        pacificislander mixed multiracial other
    """),
    "education": _set("""
        bachelors bachelor masters master doctorate phd hsgrad highschool somecollege assocvoc assocacdm profschool preschool
        1st4th 5th6th 7th8th 9th 10th 11th 12th primary secondary tertiary college university none elementary vocational abitur
        realschule hauptschule lycee licence maitrise bachillerato universidad laurea diploma
    """),
    "relationship in the household": _set("""
        husband wife ownchild notinfamily otherrelative unmarried child parent spouse sibling head son daughter partner roommate
    """),
    "kind of employment": _set("""
        private stategov federalgov localgov selfempnotinc selfempinc withoutpay neverworked public selfemployed employed
        unemployed retired student homemaker
    """),
    "country": _set("""
        unitedstates usa us canada mexico cuba jamaica honduras puertorico guatemala dominicanrepublic elsalvador haiti ecuador
        peru columbia colombia nicaragua trinadadtobago trinidad brazil argentina chile venezuela bolivia uruguay paraguay england
        unitedkingdom uk scotland ireland france germany deutschland austria switzerland schweiz italy italia spain espana
        portugal netherlands holand holandnetherlands belgium denmark norway sweden finland poland polska czechia hungary romania
        bulgaria greece turkey russia ukraine yugoslavia serbia croatia iran iraq israel egypt morocco algeria tunisia nigeria
        kenya ethiopia south southafrica india pakistan bangladesh china japan korea southkorea taiwan hong hongkong vietnam laos
        cambodia thailand philippines indonesia malaysia singapore australia newzealand outlyingusguamusvietc
    """),
}
"""Values that say by themselves what a column is: things that others may well know."""

SECRET_VALUES = {
    "health": _set("""
        hiv aids cancer tumor tumour carcinoma leukemia leukaemia lymphoma melanoma diabetes asthma hypertension depression
        schizophrenia bipolar anxiety dementia alzheimer epilepsy hepatitis tuberculosis pneumonia bronchitis influenza flu copd
        stroke infarction angina migraine arthritis psoriasis appendicitis gastritis abortion miscarriage childbirth pregnancy
        syphilis gonorrhoea gonorrhea chlamydia alcoholism addiction overdose cirrhosis obesity anaemia anemia lupus gout
        sclerosis parkinson krebs grippe depressione cancro tumore diabete sida
    """),
    "sexuality": _set("heterosexual homosexual bisexual gay lesbian queer asexual transgender"),
    "crime": _set("""
        theft burglary robbery assault battery murder homicide manslaughter rape fraud arson kidnapping trafficking possession dui
        felony misdemeanor misdemeanour larceny forgery stalking vandalism trespass trespassing cocaine cannabis heroin grand
    """),
    "belief": _set("""
        catholic protestant muslim islam jewish hindu buddhist christian orthodox atheist agnostic evangelical lutheran sikh
        mormon katholisch evangelisch muslimisch konfessionslos catholique musulman
    """),
    "politics": _set("republican democrat labour conservative liberal socialist communist greens cdu spd fdp afd"),
}
"""Values that say by themselves that a column is a secret."""

MOST_SENSITIVE = _stems("""
    hiv aids abortion suicid rape sexual schizophren psychos bipolar overdose addict alcohol drug depress syphilis gonorr chlamyd
    hepatitis cancer carcinom leuk murder homicid assault felony dementia epilep tubercul homosex gay muslim jewish
""")
"""Beginnings of values that hurt most when they are known, the worst first."""

FIRST_NAMES = _set("""
    james mary john patricia robert jennifer michael linda william elizabeth david barbara richard susan joseph jessica thomas
    sarah charles karen christopher lisa daniel nancy matthew betty anthony margaret mark sandra donald ashley steven kimberly
    paul emily andrew donna joshua michelle kevin carol brian amanda george melissa anna hans peter klaus wolfgang jurgen ursula
    monika petra sabine andrea stefan lukas leon marie jean pierre jacques michel philippe sophie camille juan jose luis carlos
    maria carmen ana isabel antonio manuel francisco javier giuseppe giovanni francesco marco giulia chiara alessandro joao pedro
    paulo rita jan piet kees johannes willem anke piotr krzysztof andrzej katarzyna agnieszka malgorzata lars erik sven ingrid
    astrid mohammed ahmed ali fatima aisha wei li chen yuki hiroshi olga ivan natalia dmitri sergei emma noah olivia liam ava
    sophia mia lucas ben laura julia
""")
LAST_NAMES = _set("""
    smith johnson williams brown jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas
    taylor moore jackson martin lee perez thompson white harris sanchez clark ramirez lewis robinson walker young allen king
    wright scott torres nguyen hill flores green adams nelson baker hall rivera campbell mitchell carter roberts muller mueller
    schmidt schneider fischer weber meyer wagner becker schulz hoffmann koch bauer richter klein wolf schroder neumann schwarz
    zimmermann bernard dubois durand leroy moreau simon laurent lefebvre michel fernandez gomez diaz ruiz rossi russo ferrari
    esposito bianchi romano colombo silva santos ferreira pereira oliveira costa jansen bakker visser smit meijer nowak kowalski
    wisniewski wojcik kowalczyk hansen johansson andersson karlsson nilsson larsen olsen ivanov petrov kim park wang li zhang liu
    chen yang tanaka suzuki kumar singh
""")
"""Frequent names: a column that has several of them among its values holds names of people."""
