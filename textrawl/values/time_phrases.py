"""Regular expressions of time expressions, one for each language that search understands.

dateparser reads the texts that these expressions find. So they contain only names of months and
weekdays, numbers and units that dateparser knows.
"""

import re

_YEAR = r"(?:19|20)\d\d"
_ISO = rf"{_YEAR}-[01]\d(?:-[0-3]\d)?"
_DAY = r"[0-3]?\d(?:st|nd|rd|th)?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER = (
    r"(?:\d{1,3}|an?\ (?:few|couple\ of)|an?|few|couple\ of|several|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve)"
)
_ENGLISH = rf"""
    {_ISO}
    | {_DAY}(?:\ of)?\ {_MONTH}\b\.?(?:,?\ {_YEAR})?
    | {_MONTH}\.?\ (?:the\ )?{_DAY}(?:,?\ {_YEAR})?
    | {_MONTH}\.?(?:,|\ of)?\ {_YEAR}
    | (?P<lead>in|during|since|from|of|by|between|and|to|until|before|after|early|late|mid|last
        |this|past|spring|summer|autumn|fall|winter)
        \ (?P<named>{_MONTH}(?:\.?(?:,|\ of)?\ {_YEAR})?|{_YEAR}(?!-\d))
    | (?:on|last|this|past)\ (?P<weekday>{_WEEKDAY})
    | (?P<few>{_NUMBER})\ (?P<ago>hour|day|week|month|year)s?\ ago
    | (?:last|past|previous)\ (?P<many>{_NUMBER})\ (?P<unit>day|week|month|year)s?(?!\ of)
    | (?:last|past|previous|this)\ (?P<one>week|month|year)(?!\ of)
    | the\ day\ before\ yesterday | yesterday | today | tonight
    | this\ (?:morning|afternoon|evening) | last\ night
"""
_PHRASES = {
    "en": _ENGLISH,
    "de": rf"""
        {_ISO} | (?:\d\d?\.\ )?(?:jan|feb|märz|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-z]*\ {_YEAR}
        | (?:letzte|vorige|diese)[nrs]?\ (?:woche|monat|jahr) | gestern | vorgestern | heute
        | vor\ \w+\ (?:tagen|wochen?|monat(?:en)?|jahr(?:en)?)""",
    "fr": rf"""
        (?:\d\d?\ )?(?:janv|févr|mars|avr|mai|juin|juil|août|sept|oct|nov|déc)[a-z]*\ {_YEAR}
        | la\ semaine\ dernière | le\ mois\ dernier | l'année\ dernière
        | cette\ semaine | ce\ mois-ci | cette\ année | hier | avant-hier | aujourd'hui
        | il\ y\ a\ \w+\ (?:jours?|semaines?|mois|ans?)""",
    "es": rf"""
        (?:\d\d?\ de\ )?(?:ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic)[a-z]*\ (?:de\ )?{_YEAR}
        | la\ semana\ pasada | el\ mes\ pasado | el\ año\ pasado | esta\ semana | este\ mes
        | este\ año | ayer | anteayer | hoy | hace\ \w+\ (?:días?|semanas?|mes(?:es)?|años?)""",
    "it": rf"""
        (?:\d\d?\ )?(?:genn|febb|mar|apr|magg|giu|lug|ago|sett|ott|nov|dic)[a-z]*\ {_YEAR}
        | settimana\ scorsa | mese\ scorso | anno\ scorso | questa\ settimana | questo\ mese
        | quest'anno | ieri | oggi | \d+\ (?:giorni|settimane|mesi|anni)\ fa""",
    "pt": rf"""
        (?:\d\d?\ de\ )?(?:jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez)[a-zç]*\ (?:de\ )?{_YEAR}
        | semana\ passada | mês\ passado | ano\ passado | esta\ semana | este\ mês | este\ ano
        | ontem | anteontem | hoje | há\ \w+\ (?:dias?|semanas?|mês|meses|anos?)""",
    "nl": rf"""
        (?:\d\d?\ )?(?:jan|feb|maart|apr|mei|jun|jul|aug|sep|okt|nov|dec)[a-z]*\ {_YEAR}
        | (?:vorige?|deze|dit)\ (?:week|maand|jaar) | gisteren | eergisteren | vandaag
        | \d+\ (?:dagen|weken|maanden|jaar)\ geleden""",
    "ja": rf"""
        {_YEAR}年(?:[01]?\d月(?:[0-3]?\d日)?)? | 先週 | 先月 | 去年 | 昨年 | 昨日 | 一昨日 | 今日
        | 今週 | 今月 | 今年 | \d+(?:日|週間|[かヶ]月|年)前""",
}
_FLAGS = re.IGNORECASE | re.VERBOSE
PATTERNS = {
    language: re.compile(phrases if language == "ja" else rf"\b(?:{phrases})\b", _FLAGS)
    for language, phrases in _PHRASES.items()
}
"""The expressions by language. A question is searched with each of them in this order."""
_WORDS = """
    jan january feb february mar march apr april may jun june jul july aug august sep sept september
    oct october nov november dec december monday tuesday wednesday thursday friday saturday sunday
    ago last past previous this yesterday today tonight
    letzte letzten letzter letztes vorige vorigen voriger voriges diese diesen dieser dieses vor
    gestern vorgestern heute
    dernière dernier cette ce hier aujourd il
    pasada pasado esta este ayer anteayer hoy hace
    scorsa scorso questa questo quest ieri oggi fa
    passada passado ontem anteontem hoje há
    vorig deze dit gisteren eergisteren vandaag geleden
"""
ANCHORS = frozenset(_WORDS.split())
"""Each time expression has one of these words, a year in digits, or one of `IDEOGRAPHS`."""
IDEOGRAPHS = re.compile("[年月週日]")
