"""The words that dates are made of, a table for each language; a new language is a new table.

A line is a kind of token and its words by value. Words of several parts stand with `_` between them.
"""

from collections.abc import Mapping

Table = Mapping[str, str]

ENGLISH: Table = {
    "month": "january,jan february,feb,febr march,mar april,apr may june,jun july,jul august,aug "
    "september,sept,sep october,oct november,nov december,dec",
    "weekday": "monday,mon,mondays tuesday,tue,tues,tuesdays wednesday,wed,weds,wednesdays "
    "thursday,thu,thur,thurs,thursdays friday,fri,fridays saturday,sat,saturdays sunday,sun,sundays",
    "second": "seconds,sec,secs", "minute": "minute,minutes,min,mins", "hour": "hour,hours,hr,hrs,h",
    "day": "day,days", "week": "week,weeks,wk,wks", "fortnight": "fortnight,fortnights", "month_unit": "month,months",
    "quarter": "quarter,quarters,qtr,qtrs", "year": "year,years,yr,yrs,y", "decade": "decade,decades",
    "weekend": "weekend,weekends,wkend,week-end",
    "next": "next,coming,following,the_following,this_coming",
    "upcoming": "upcoming", "last": "last,previous,this_past",
    "this": "this,current", "in": "in,within", "ago": "ago,back,earlier", "on": "from_now,hence,later,out,"
    "from_right_now,from_today,after_today", "after": "after,from", "before": "before", "to": "to,until,till,through,"
    "thru,up_to,untill,til,'til,but_before", "from": "between,starting,since,later_than",
    "and": "and", "at": "at,@,around,about,approximately",
    "for": "for", "by": "by",
    "three_quarters": "three_quarters_of_an_hour,three_quarters_of_hour,three_quarter_hour,three_quarters_hour,"
    "three-quarters_of_an_hour,three-quarters_of_hour", "earth_hour": "earth_hour",
    "named_decade": "the_twenties the_thirties the_forties the_fifties the_sixties the_seventies the_eighties "
    "the_nineties",
    "filler": "the,on,of,a,an,exactly,precisely,sharp,promptly,ish,but,more,only,during,oclock_sharp",
    "relative": "day_before_yesterday yesterday today,at_this_time,todays tomorrow,tomorrows,tmrw,tmr "
    "day_after_tomorrow,overmorrow",
    "now": "now,right_now,just_now,at_the_moment,at_this_moment,atm,asap",
    "oclock": "o'clock,oclock", "past": "past", "half": "half",
    "quarter_hour": "a_quarter", "ordinal": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty_first "
    "twenty_second twenty_third twenty_fourth twenty_fifth twenty_sixth twenty_seventh twenty_eighth twenty_ninth "
    "thirtieth thirty_first",
    "begin": "beginning,start,early,beginning_of", "middle": "mid,middle", "end": "end,late",
    "morning": "morning,mornings,early_morning,the_morning", "lunch": "lunch,at_lunch,lunchtime",
    "after_lunch": "after_lunch", "after_work": "after_work", "after_school": "after_school",
    "afternoon": "afternoon,afternoons", "evening": "evening,evenings",
    "night": "night,nights", "tonight": "tonight,tonite", "last_night": "last_night", "noon": "noon,midday,mid_day",
    "midnight": "midnight,mid_night", "few": "few,a_few,several",
    "pair": "couple,couple_of,a_couple"
    ",a_couple_of,pair_of,a_pair_of", "winter": "winter", "spring": "spring", "summer": "summer",
    "autumn": "autumn,fall", "season": "season,seasons", "closest": "closest,nearest", "rest": "rest,rest_of",
    "am": "a.m,a.m.,am,a_m", "pm": "p.m,p.m.,pm,p_m",
    "bom": "bom", "eom": "eom", "boy": "boy", "eoy": "eoy", "eod": "eod", "ad": "ad,a.d.,a.d",
}  # fmt: skip

DUTCH: Table = {
    "month": "januari,jan februari,feb,febr maart,mrt april,apr mei juni,jun juli,jul augustus,aug september,sept,sep "
    "oktober,okt november,nov december,dec",
    "weekday": "maandag,ma,ma.,maa.,maandags dinsdag,di,di.,din.,dinsdags woensdag,wo,wo.,woe.,woensdags "
    "donderdag,do,do.,don.,donderdags vrijdag,vr,vr.,vri.,vrij.,vrijdags zaterdag,za,za.,zat.,zaterdags "
    "zondag,zo,zo.,zon.,zondags",
    "second": "seconde,seconden,secondes,sec", "minute": "minuut,minuten,minuutje,minuutjes,min", "hour": "uren,uurtje",
    "uur": "uur",
    "day": "dag,dagen", "week": "week,weken", "month_unit": "maand,maanden", "quarter": "kwartaal,kwartalen",
    "year": "jaar,jaren", "decade": "decennium,decennia", "weekend": "weekend",
    "next": "volgende,komende,komend,aankomende,aanstaande,eerstvolgende,"
    "volgend", "last": "vorige,afgelopen,laatste,vorig,jl,jl.,jongstleden,laatstleden,ll.",
    "this": "deze,dit,huidige", "in": "over,binnen,in",
    "ago": "geleden,terug,ervoor", "on": "later,vanaf_nu,vanaf_vandaag", "after": "na", "before": "voor,vóór",
    "to": "tot,t/m,tot_en_met,tm", "from": "van,vanaf,tussen", "and": "en",
    "at": "om,rond,tegen,klokslag,stipt_om,stipt",
    "for": "gedurende",
    "counted_hour": "enen tweeën drieën vieren vijven zessen zevenen achten negenen tienen elven "
    "twaalven",
    "named_decade": "jaren_twintig jaren_dertig jaren_veertig jaren_vijftig jaren_zestig jaren_zeventig jaren_tachtig "
    "jaren_negentig",
    "filler": "de,het,op,ongeveer,precies,tijdens,zo'n,ruim,krap,'s,aan,circa,ca,in_de,van_de,van_het,in_het,maar",
    "relative": "eergisteren,eergister gisteren,gister vandaag,heden,op_deze_dag,deze_dag "
    "morgen,morgenvroeg overmorgen",
    "now": "nu,nou,nu_meteen,op_dit_moment,momenteel,zojuist", "half": "half", "half_hour": "halfuur,halfuurtje",
    "quarter_hour": "kwart", "quarter_of_hour": "kwartier,kwartiertje",
    "over": "over", "ordinal": "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde "
    "dertiende veertiende vijftiende zestiende zeventiende achttiende negentiende twintigste eenentwintigste "
    "tweeëntwintigste drieëntwintigste vierentwintigste vijfentwintigste zesentwintigste zevenentwintigste "
    "achtentwintigste negenentwintigste dertigste eenendertigste",
    "begin": "begin,start,vroeg", "middle": "midden,medio,halverwege", "end": "eind,einde,laat",
    "noon": "twaalf_uur_'s_middags,middaguur",
    "morning": "ochtend,ochtends,'s_ochtends,voormiddag,'s_morgens,morgens,in_de_ochtend,in_de_morgen",
    "lunch": "lunch,lunchtijd", "after_lunch": "na_de_lunch", "after_work": "na_het_werk",
    "afternoon": "middag,middags,'s_middags,namiddag",
    "evening": "avond,avonds,'s_avonds", "night": "nacht",
    "small_hours": "nachts,'s_nachts,in_de_nacht", "tonight": "vanavond",
    "this_morning": "vanochtend,vanmorgen", "this_afternoon": "vanmiddag,vannamiddag",
    "midnight": "middernacht", "few": "enkele", "one_and_a_half": "anderhalf,anderhalve",
    "pair": "paar,een_paar", "winter": "winter",
    "spring": "lente,voorjaar", "summer": "zomer", "autumn": "herfst,najaar", "season": "seizoen", "rest": "rest",
}  # fmt: skip

GERMAN: Table = {
    "month": "januar,jan,jänner februar,feb märz,mär,mrz april,apr mai juni,jun juli,jul august,aug september,sept,sep "
    "oktober,okt november,nov dezember,dez",
    "weekday": "montag,mo,montags dienstag,di,dienstags mittwoch,mi,mittwochs donnerstag,do,donnerstags "
    "freitag,fr,freitags samstag,sa,samstags,sonnabend sonntag,so,sonntags",
    "second": "sekunde,sekunden", "minute": "minute,minuten", "hour": "stunde,stunden", "day": "tag,tage,tagen",
    "week": "woche,wochen,kw,kalenderwoche", "month_unit": "monat,monate,monaten", "quarter": "quartal",
    "year": "jahr,jahre,jahren",
    "weekend": "wochenende",
    "next": "nächste,nächsten,nächster,nächstes,nächstem,kommende,kommenden,kommender,kommendes",
    "last": "letzte,letzten,letzter,letztes,vorige,vorigen,vergangene,vergangenen",
    "this": "diese,diesen,dieser,dieses,diesem",
    "in": "in,binnen", "ago": "her", "on": "später", "after": "nach", "before": "vor", "to": "bis,bis_zum",
    "from": "von,vom,zwischen,ab", "and": "und", "at": "um,gegen",
    "filler": "am,der,die,das,den,dem,des,im,zum,ca,etwa,jeden,jeder,jede,jedes",
    "relative": "vorgestern gestern heute morgen übermorgen", "now": "jetzt", "oclock": "uhr",
    "ordinal": "ersten,erster,erste zweiten,zweiter,zweite dritten,dritter,dritte vierten,vierter,vierte fünften "
    "sechsten siebten achten neunten zehnten elften zwölften",
    "begin": "anfang", "middle": "mitte", "end": "ende", "morning": "vormittag,früh,morgens,vormittags",
    "noon": "mittag",
    "afternoon": "nachmittag,nachmittags,mittags", "evening": "abend,abends", "night": "nacht,nachts",
    "tonight": "heute_abend", "midnight": "mitternacht", "pair": "paar,ein_paar", "few": "einige,einigen",
    "winter": "winter", "spring": "frühling,frühjahr", "summer": "sommer", "autumn": "herbst", "half": "halb",
    "quarter_hour": "viertel",
}  # fmt: skip

FRENCH: Table = {
    "month": "janvier,janv,jan février,févr,fév,fevrier mars avril,avr mai juin juillet,juil août,aout septembre,sept "
    "octobre,oct novembre,nov décembre,déc,decembre",
    "weekday": "lundi,lun,lundis mardi,mar,mardis mercredi,mer,mercredis jeudi,jeu,jeudis vendredi,ven,vendredis "
    "samedi,sam,samedis dimanche,dim,dimanches",
    "second": "seconde,secondes", "minute": "minute,minutes", "hour": "heure,heures", "day": "jour,jours",
    "week": "semaine,semaines", "month_unit": "mois", "quarter": "trimestre", "year": "an,ans,année,années",
    "weekend": "week-end,weekend", "next": "prochain,prochaine,prochains,prochaines,suivant",
    "last": "dernier,dernière,"
    "passé,passée", "this": "ce,cet,cette,ces", "in": "dans", "ago": "il_y_a", "on": "plus_tard", "after": "après",
    "before": "avant",
    "to": "au,jusqu'au,à,jusqu'à", "from": "du,de,entre,à_partir_de,dès", "and": "et", "at": "vers,dès",
    "filler": "le,la,les,l',en,environ,un,une,chaque,tous",
    "relative": "avant-hier hier aujourd'hui demain après-demain",
    "now": "maintenant", "oclock": "h,heures,heure", "ordinal": "premier,1er deuxième troisième quatrième cinquième",
    "begin": "début,debut", "middle": "mi,milieu", "end": "fin", "morning": "matin,matinée", "noon": "midi",
    "afternoon": "après-midi,aprem", "evening": "soir,soirée", "night": "nuit", "tonight": "ce_soir",
    "midnight": "minuit", "few": "quelques", "winter": "hiver", "spring": "printemps", "summer": "été",
    "autumn": "automne",
}  # fmt: skip

SPANISH: Table = {
    "month": "enero,ene febrero,feb marzo,mar abril,abr mayo,may junio,jun julio,jul agosto,ago "
    "septiembre,sept,sep,setiembre octubre,oct noviembre,nov diciembre,dic",
    "weekday": "lunes,lun martes,mart miércoles,mié,miercoles jueves,jue viernes,vie sábado,sáb,sabado,sábados "
    "domingo,dom,domingos",
    "second": "segundo,segundos", "minute": "minuto,minutos", "hour": "hora,horas", "day": "día,días,dia,dias",
    "week": "semana,semanas", "month_unit": "mes,meses", "quarter": "trimestre", "year": "año,años",
    "weekend": "fin_de_semana", "next": "próximo,próxima,próximos,proximo,proxima,que_viene", "last": "pasado,pasada,"
    "último,última", "this": "este,esta,estos", "in": "dentro_de,en", "ago": "atrás,hace", "on": "después",
    "after": "después_de",
    "before": "antes_de", "to": "al,a,hasta,hasta_el", "from": "desde,desde_el,entre", "and": "y", "at": "a_las,a_la",
    "filler": "el,la,los,las,de,del,por,la_mañana_del,un,cada,todos",
    "relative": "anteayer ayer hoy mañana pasado_mañana",
    "now": "ahora", "oclock": "horas,h,hrs", "ordinal": "primero,primer segundo tercero,tercer cuarto quinto",
    "begin": "principios,inicio", "middle": "mediados", "end": "fin,finales", "morning": "por_la_mañana,de_la_mañana",
    "noon": "mediodía", "afternoon": "tarde,de_la_tarde,por_la_tarde", "evening": "noche,de_la_noche,por_la_noche",
    "tonight": "esta_noche", "midnight": "medianoche", "few": "unos,algunos", "winter": "invierno",
    "spring": "primavera", "summer": "verano", "autumn": "otoño",
}  # fmt: skip

ITALIAN: Table = {
    "month": "gennaio,gen febbraio,feb marzo,mar aprile,apr maggio,mag giugno,giu luglio,lug agosto,ago "
    "settembre,set,sett ottobre,ott novembre,nov dicembre,dic",
    "weekday": "lunedì,lun,lunedi martedì,mart,martedi mercoledì,mer,mercoledi giovedì,gio,giovedi venerdì,ven,venerdi "
    "sabato,sab domenica,dom",
    "second": "secondo,secondi", "minute": "minuto,minuti", "hour": "ora,ore", "day": "giorno,giorni",
    "week": "settimana,settimane", "month_unit": "mese,mesi", "quarter": "trimestre", "year": "anno,anni",
    "weekend": "fine_settimana,weekend", "next": "prossimo,prossima,prossimi", "last": "scorso,scorsa,ultimo,ultima",
    "this": "questo,questa,questi", "in": "tra,fra", "ago": "fa", "on": "dopo", "after": "dopo", "before": "prima_di",
    "to": "al,a,fino_al,alle", "from": "dal,da,dalle,tra_il", "and": "e", "at": "alle,ore,alle_ore",
    "filler": "il,la,lo,l',i,le,di,del,della,un,una,ogni,tutti", "relative": "altro_ieri ieri oggi domani dopodomani",
    "now": "adesso,ora", "oclock": "in_punto",
    "ordinal": "primo,prima secondo,seconda terzo,terza quarto,quarta quinto,quinta",
    "begin": "inizio", "middle": "metà", "end": "fine", "morning": "mattina,mattino,del_mattino,di_mattina",
    "noon": "mezzogiorno", "afternoon": "pomeriggio,del_pomeriggio", "evening": "sera,di_sera", "night": "notte",
    "tonight": "stasera,questa_sera", "midnight": "mezzanotte", "few": "alcuni", "winter": "inverno",
    "spring": "primavera", "summer": "estate", "autumn": "autunno",
}  # fmt: skip

TABLES: Mapping[str, Table] = {
    "en": ENGLISH, "nl": DUTCH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, "it": ITALIAN,
}  # fmt: skip
