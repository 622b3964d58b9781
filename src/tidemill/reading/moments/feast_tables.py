"""Feasts and their names, by how their day is found."""

FIXED = {
    "new year": (1, 1, ("new year,new years,new year's day,new years day,nieuwjaar,nieuwjaarsdag,"
     "neujahr,jour de l'an,capodanno")),
    "epiphany": (1, 6, "epiphany,driekoningen,three kings day,three kings' day"),
    "groundhog": (2, 2, "groundhog day"),
    "valentine": (2, 14, ("valentine's day,valentines day,valentine day,valentine,"
     "valentijnsdag,valentijn,valentinstag,"
     "saint-valentin,san valentino")),
    "womens": (3, 8, "international women's day,women's day,internationale vrouwendag,vrouwendag"),
    "pi": (3, 14, "pi day"),
    "patrick": (3, 17, ("st patrick's day,st. patrick's day,saint patrick's day,st paddy's day,saint paddy's day,"
     "saint patricks day,st patricks day,st. paddy's day")),
    "fools": (4, 1, "april fools,april fools day,april fool's day,1 april grap,april fools'"),
    "earth": (4, 22, "earth day"),
    "george": (4, 23, "st george's day,saint george's day,feast of saint george"),
    "labour": (5, 1, "may day,dag van de arbeid,labour day,tag der arbeit,fête du travail"),
    "memorial4": (5, 4, "dodenherdenking,nationale dodenherdenking"),
    "liberation": (5, 5, "bevrijdingsdag,liberation day"),
    "vaisakhi": (4, 14, "vaisakhi,baisakhi,vasakhi,vaishakhi"),
    "cinco": (5, 5, "cinco de mayo"),
    "juneteenth": (6, 19, "juneteenth"),
    "canada": (7, 1, "canada day"),
    "independence": (7, 4, "independence day,fourth of july,4 of july,4th of july"),
    "bastille": (7, 14, "bastille day,quatorze juillet"),
    "assumption": (8, 15, "assumption,assumption day,maria hemelvaart,mariä himmelfahrt,assomption,ferragosto"),
    "halloween": (10, 31, "halloween,hallowe'en,all hallows' eve"),
    "reformation": (10, 31, "reformation day,hervormingsdag"),
    "all saints": (11, 1, "all saints' day,all saints day,allerheiligen,toussaint"),
    "vegan": (11, 1, "world vegan day"),
    "all souls": (11, 2, "all souls' day,all souls day,allerzielen"),
    "guy": (11, 5, "guy fawkes,guy fawkes day,guy fawkes night,bonfire night"),
    "martin": (11, 11, "sint maarten,sint-maarten,st martin's day,martinmas"),
    "veterans": (11, 11, "veterans day,veteran's day,veterans' day,remembrance day,armistice day,wapenstilstandsdag"),
    "sinterklaas": (12, 5, "sinterklaas,pakjesavond,sinterklaasavond,sinterklaasfeest"),
    "christmas eve": (12, 24, "christmas eve,kerstavond,xmas eve,heiligabend"),
    "christmas": (12, 25, ("christmas,christmas day,xmas,xmas day,kerst,kerstmis,"
     "eerste kerstdag,1e kerstdag,kerstdag,"
     "weihnachten,noël,navidad,natale")),
    "boxing": (12, 26, "boxing day,tweede kerstdag,2e kerstdag"),
    "new year's eve": (12, 31, ("new year's eve,new years eve,oudjaar,oudejaarsavond,oudejaarsdag,oud en nieuw,"
     "silvester,nochevieja")),
    "kwanzaa": (12, 26, "kwanzaa"),
    "nicholas": (12, 6, "saint nicholas day,st nicholas day,st. nicholas day,feast of st nicholas,sint nicolaas"),
    "star wars": (5, 4, "star wars day"),
    "aids": (12, 1, "world aids day,wereldaidsdag"),
    "human rights": (12, 10, "human rights day"),
    "flag": (6, 14, "flag day"),
    "patriot": (9, 11, "patriot day"),
    "constitution": (9, 17, "constitution day,citizenship day"),
    "pirate": (9, 19, "talk like a pirate day,international talk like a pirate day"),
    "australia": (1, 26, "australia day,republic day"),
    "anzac": (4, 25, "anzac day"),
    "stephen": (12, 26, "st stephen's day,saint stephen's day,st. stephen's day"),
    "andrew": (11, 30, "st andrew's day,saint andrew's day,st. andrew's day"),
    "david": (3, 1, "st david's day,saint david's day,st. david's day"),
    "emancipation": (4, 16, "emancipation day"),
    "environment": (6, 5, "world environment day"),
    "peace": (9, 21, "international day of peace,peace day"),
    "united nations": (10, 24, "united nations day"),
    "gandhi": (10, 2, "gandhi jayanti"),
    "candlemas": (2, 2, "candlemas,maria-lichtmis"),
    "walpurgis": (4, 30, "walpurgis night,walpurgisnacht"),
    "siblings": (4, 10, "siblings day,national siblings day"),
    "tax": (4, 15, "tax day"),
    "burns": (1, 25, "burns night"),
    "immaculate": (12, 8, "immaculate conception,feast of the immaculate conception"),
    "guadalupe": (12, 12, "feast of our lady of guadalupe"),
    "rabindra": (5, 9, "rabindra jayanti,rabindranath jayanti"),
    "nowruz": (3, 20, "nowruz,persian new year"),
    "bastille nl": (7, 11, "vlaamse feestdag"),
    "belgium": (7, 21, "belgische nationale feestdag"),
    "unity": (10, 3, "tag der deutschen einheit,german unity day"),
}  # fmt: skip
BY_WEEKDAY = {
    "mlk": (1, 3, 0, 0, ("mlk day,martin luther king day,martin luther king's day,martin luther kings day,"
     "martin luther king jr day,martin luther king jr. day,civil rights day")),
    "presidents": (2, 3, 0, 0, "presidents day,president's day,presidents' day,washington's birthday,family day"),
    "mothers": (5, 2, 6, 0, "mother's day,mothers day,moederdag,mothers' day,muttertag"),
    "fathers": (6, 3, 6, 0, "father's day,fathers day,vaderdag,fathers' day"),
    "memorial": (5, -1, 0, 0, "memorial day,decoration day"),
    "labor": (9, 1, 0, 0, "labor day"),
    "prinsjesdag": (9, 3, 1, 0, "prinsjesdag"),
    "columbus": (10, 2, 0, 0, "columbus day,indigenous peoples' day"),
    "thanksgiving": (11, 4, 3, 0, "thanksgiving,thanksgiving day"),
    "black friday": (11, 4, 3, 1, "black friday"),
    "cyber monday": (11, 4, 3, 4, "cyber monday"),
    "giving tuesday": (11, 4, 3, 5, "giving tuesday"),
    "election": (11, 1, 0, 1, "election day"),
    "grandparents": (9, 1, 0, 6, "grandparents day,grandparents' day,national grandparents day"),
    "admin": (4, -1, 5, -3, "administrative professionals' day,secretaries day,secretaries' day,admin day"),
    "armed": (5, 3, 5, 0, "armed forces day"),
    "commonwealth": (3, 2, 0, 0, "commonwealth day"),
    "military spouse": (5, 2, 6, -2, "military spouse day,military spouse appreciation day"),
    "arbor": (4, -1, 4, 0, "arbor day"),
    "small business": (11, 4, 3, 2, "small business saturday"),
    "sweetest": (10, 3, 5, 0, "sweetest day"),
    "derby": (5, 1, 5, 0, "kentucky derby"),
    "victoria": (5, 4, 0, 0, "victoria day"),
    "early may": (5, 1, 0, 0, "may day bank holiday,early may bank holiday"),
    "spring bank": (5, -1, 0, 0, "spring bank holiday"),
    "summer bank": (8, -1, 0, 0, "summer bank holiday"),
    "harvest": (10, 2, 0, 0, "canadian thanksgiving"),
    "open monuments": (9, 2, 5, 0, "open monumentendag"),
}  # fmt: skip
"""The nth weekday of a month (-1 the last), and days after it."""
EASTER = {
    "easter": (0, 1, ("easter,easter sunday,easter day,pasen,eerste paasdag,1e paasdag,"
     "paaszondag,ostern,ostersonntag,"
     "pâques,pascua,pasqua")),
    "easter monday": (1, 1, ("easter monday,tweede paasdag,2e paasdag,paasmaandag,"
     "ostermontag,lundi de pâques,pasquetta")),
    "good friday": (-2, 1, "good friday,goede vrijdag,karfreitag,vendredi saint"),
    "maundy": (-3, 1, ("maundy thursday,covenant thursday,covenant thu,thu of mysteries,thursday of mysteries,"
     "holy thursday,sheer thursday,witte donderdag,gründonnerstag")),
    "holy saturday": (-1, 1, "holy saturday,black saturday,stille zaterdag,easter eve"),
    "palm sunday": (-7, 1, "palm sunday,branch sunday,palmzondag,palmpasen,palmsonntag"),
    "ash wednesday": (-46, 1, "ash wednesday,carnival,aswoensdag,aschermittwoch"),
    "shrove": (-47, 1, "shrove tuesday,pancake day,pancake tuesday,mardi gras,vastenavond"),
    "clean monday": (-48, 1, "shrove monday,rose monday,rosenmontag"),
    "carnaval": (-49, 3, "carnaval,karneval"),
    "lent": (-46, 46, "lent,vastentijd"),
    "ascension": (39, 1, ("ascension day,ascension thursday,feast of the ascension,hemelvaart,hemelvaartsdag,"
     "christi himmelfahrt,ascension")),
    "pentecost": (49, 1, ("pentecost,whit sunday,white sunday,whitsunday,pinksteren,"
     "eerste pinksterdag,1e pinksterdag,"
     "pfingsten,pfingstsonntag,pentecôte,pentecostés,pentecoste")),
    "whit monday": (50, 1, ("whit monday,pentecost monday,monday of the holy spirit,"
     "tweede pinksterdag,2e pinksterdag,"
     "pinkstermaandag,pfingstmontag")),
    "trinity": (56, 1, "trinity sunday,drievuldigheidszondag"),
    "corpus christi": (60, 1, "corpus christi,feast of corpus christi,sacramentsdag,fronleichnam"),
}  # fmt: skip
ORTHODOX = {
    "orthodox easter": (0, 1, "orthodox easter,orthodox easter sunday"),
    "orthodox easter monday": (1, 1, "orthodox easter monday"),
    "orthodox good friday": (-2, 1, "orthodox good friday,orthodox great friday,great friday"),
    "orthodox palm sunday": (-7, 1, "orthodox palm sunday"),
    "orthodox clean monday": (-48, 1, ("orthodox clean monday,clean monday,green monday,"
     "pure monday,orthodox shrove monday")),
    "lazarus": (-8, 1, "lazarus saturday"),
    "orthodox holy saturday": (-1, 1, "orthodox holy saturday,great saturday"),
    "orthodox ascension": (39, 1, "orthodox ascension,orthodox ascension day"),
    "orthodox whit monday": (50, 1, "orthodox whit monday,orthodox monday of the holy spirit"),
    "great fast": (-48, 40, "great fast,great lent"),
    "orthodox pentecost": (49, 1, "orthodox pentecost"),
}  # fmt: skip
HEBREW = {
    "rosh": (7, 1, -1, 3, "rosh hashanah,rosh hashana,rosh hashanna,yom teruah"),
    "yom kippur": (7, 10, -1, 2, "yom kippur,day of atonement"),
    "sukkot": (7, 15, -1, 9, ("sukkot,sukkos,succos,succot,feast of the tabernacles,feast of tabernacles,"
     "feast of the ingathering,feast of booths")),
    "shemini": (7, 22, -1, 2, "shemini atzeret"),
    "simchat": (7, 23, -1, 2, "simchat torah,simhat torah"),
    "hanukkah": (9, 25, -1, 8, "hanukkah,chanukah,hanukah,hannukkah,chanuka,chanoeka"),
    "tu bishvat": (11, 15, -1, 2, "tu bishvat,tu b'shvat"),
    "purim": (13, 14, -1, 2, "purim"),
    "passover": (1, 15, -1, 9, "passover,pesach,pesakh"),
    "lag": (2, 18, -1, 1, "lag b'omer,lag baomer,lag laomer"),
    "shavuot": (3, 6, -1, 3, "shavuot,shavuoth,shovuos,feast of weeks"),
    "tu b'av": (5, 15, -1, 2, "tu b'av"),
    "atzmaut": (2, 5, -1, 2, "yom ha'atzmaut,yom haatzmaut"),
    "shoah": (1, 27, -1, 2, "yom hashoah,yom ha-shoah,holocaust day"),
    "shushan": (13, 15, -1, 2, "shushan purim"),
    "esther": (13, 13, 0, 1, "ta'anit esther,fast of esther"),
    "gedaliah": (7, 3, 0, 1, "tzom gedaliah,fast of gedaliah"),
    "tisha": (5, 9, -1, 2, "tisha b'av,tish'a b'av"),
}  # fmt: skip
"""Month and day of the Hebrew calendar, days before it (feasts begin in the evening), and how long they last."""
ISLAMIC = {
    "islamic new year": (1, 1, 1, "islamic new year,muharram,amun jadid,hijri new year"),
    "ashura": (1, 10, 1, "ashura,day of ashura"),
    "mawlid": (3, 12, 1, "mawlid,mawlid al-nabi,mawlid al-nabawi,milad un nabi,prophet's birthday"),
    "isra": (7, 27, 1, ("isra and mi'raj,isra and miraj,the night journey,night journey,the prophet's ascension,"
     "prophet's ascension,ascension to heaven,lailat al miraj")),
    "ramadan": (9, 1, 30, "ramadan,ramadhan,ramazan,ramzan"),
    "laylat": (9, 27, 1, "laylat al-qadr,laylat al kadr,night of power,lailat al qadr"),
    "fitr": (10, 1, 1, ("eid al-fitr,eid al fitr,eid ul-fitr,id ul-fitr,suikerfeest,festival of breaking of the fast,"
     "idul fitri,sugar feast")),
    "adha": (12, 10, 1, ("eid al-adha,eid al adha,eid ul-adha,id ul-adha,id ul adha,sacrifice feast,bakr id,"
     "offerfeest,festival of the sacrifice,eid-al-adha")),
}  # fmt: skip
BY_MOON = {
    "chinese new year": (1, 21, 8.0, 0, 1, ("chinese new year,chinese new years,"
     "lunar new year,chinese lunar new year's day,"
     "chinese lunar new year,chinees nieuwjaar,chinese new year's day,spring festival")),
    "holi": (2, 8, 5.5, 15, 1, "holi,dhulandi,festival of colours,festival of colors,phagwah"),
    "holika": (2, 8, 5.5, 14, 1, "holika dahan,chhoti holi"),
    "ugadi": (3, 13, 5.5, 1, 1, "ugadi,yugadi,samvatsaradi,chaitra sukladi,chaitra sukhladi,gudi padwa"),
    "rama": (3, 13, 5.5, 9, 1, "rama navami,ram navami"),
    "vesak": (4, 17, -12.0, 15, 1, "vesak,vaisakha,buddha day,buddha purnima,wesak"),
    "ratha": (6, 18, 5.5, 1, 1, "ratha-yatra,ratha yatra,rathayatra,rath yatra"),
    "raksha": (7, 17, 5.5, 15, 1, "raksha bandhan,rakhi"),
    "janmashtami": (7, 17, -12.0, 23, 1, "krishna janmashtami,gokulashtami,janmashtami"),
    "ganesh": (8, 15, 5.5, 4, 1, "ganesh chaturthi,vinayaka chaturthi"),
    "navaratri": (9, 16, -12.0, 1, 10, "navaratri,navratri,durga puja"),
    "dussehra": (9, 16, -12.0, 10, 1, "dussehra,vijayadashami,dasara"),
    "valmiki": (9, 16, 5.5, 15, 1, "maharishi valmiki jayanti,pargat diwas,valmiki jayanti"),
    "karva": (9, 16, 5.5, 18, 1, "karva chauth"),
    "dhanteras": (10, 15, -12.0, -2, 1, "dhanteras,dhanatrayodashi"),
    "kali": (10, 15, -12.0, -1, 1, "kali chaudas,choti diwali,chhoti diwali,naraka chaturdashi"),
    "diwali": (10, 15, -12.0, 0, 1, "diwali,deepavali,lakshmi puja,divali"),
    "bhai": (10, 15, 5.5, 2, 1, "bhai dooj"),
    "chhath": (10, 15, -12.0, 6, 1, "chhath,dala puja,surya shashthi,chhath puja"),
    "guru nanak": (10, 15, 5.5, 15, 1, "guru nanak jayanti,gurpurab"),
    "vasant": (1, 10, 5.5, 5, 1, "vasant panchami,basant panchami"),
    "ravidas": (1, 10, 5.5, 15, 1, ("guru ravidas jayanti,guru ravidass jayanti,"
     "guru ravidass birthday,guru ravidas birthday")),
    "shivaratri": (2, 13, 5.5, -1, 1, "maha shivaratri,maha shivratri,shivaratri"),
    "mahavir": (3, 13, 5.5, 13, 1, "mahavir jayanti,mahaveer jayanti"),
    "guru purnima": (6, 18, 5.5, 15, 1, "guru purnima"),
    "losar": (2, 1, 5.75, 0, 1, "losar,tibetan new year"),
    "mid-autumn": (9, 1, 8.0, 14, 1, "mid-autumn festival,moon festival"),
    "dragon boat": (5, 22, 8.0, 4, 1, "dragon boat festival"),
}  # fmt: skip
"""Days after the first new moon from a day on, by the clocks of a place so many hours east
(-12: India, for feasts of the evening before); and how long it lasts."""
