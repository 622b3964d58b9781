"""The 342 municipalities of the Netherlands, in force since 1 January 2023: where discovery looks, and where towns are.

Population on 1 January 2024: CBS (Statistics Netherlands, CC BY 4.0). Coordinates of the main town: GeoNames
(CC BY 4.0), good to a few kilometres, which is what 'at the city' asks for.
"""

TABLE = """\
's-Gravenhage|Zuid-Holland|566221|52.0767|4.2986
's-Hertogenbosch|Noord-Brabant|160757|51.6992|5.3042
Aa en Hunze|Drenthe|25845|52.9350|6.6722
Aalsmeer|Noord-Holland|33279|52.2592|4.7597
Aalten|Gelderland|27308|51.9250|6.5806
Achtkarspelen|Fryslân|28226|53.2178|6.1617
Alblasserdam|Zuid-Holland|20314|51.8658|4.6611
Albrandswaard|Zuid-Holland|26428|51.8575|4.4222
Alkmaar|Noord-Holland|112304|52.6317|4.7486
Almelo|Overijssel|74317|52.3567|6.6625
Almere|Flevoland|226500|52.3702|5.2141
Alphen aan den Rijn|Zuid-Holland|114966|52.1292|4.6555
Alphen-Chaam|Noord-Brabant|10455|51.5058|4.8611
Altena|Noord-Brabant|58277|51.7708|4.9597
Ameland|Fryslân|3839|53.4450|5.7740
Amersfoort|Utrecht|161852|52.1550|5.3875
Amstelveen|Noord-Holland|95014|52.3008|4.8639
Amsterdam|Noord-Holland|931298|52.3740|4.8897
Apeldoorn|Gelderland|168211|52.2100|5.9694
Arnhem|Gelderland|167632|51.9800|5.9111
Assen|Drenthe|69701|52.9967|6.5625
Asten|Noord-Brabant|17302|51.4042|5.7486
Baarle-Nassau|Noord-Brabant|7076|51.4475|4.9292
Baarn|Utrecht|25065|52.2117|5.2875
Barendrecht|Zuid-Holland|48690|51.8567|4.5347
Barneveld|Gelderland|62592|52.1400|5.5847
Beek|Limburg|16215|50.9408|5.7972
Beekdaelen|Limburg|35896|50.9175|5.8861
Beesel|Limburg|13394|51.2683|6.0389
Berg en Dal|Gelderland|35474|51.8217|5.9167
Bergeijk|Noord-Brabant|19196|51.3192|5.3583
Bergen (L.)|Limburg|13154|51.6033|6.0542
Bergen (NH.)|Noord-Holland|29932|52.6692|4.7042
Bergen op Zoom|Noord-Brabant|69694|51.4950|4.2917
Berkelland|Gelderland|43933|52.1158|6.5222
Bernheze|Noord-Brabant|32527|51.6783|5.5069
Best|Noord-Brabant|31223|51.5075|5.3903
Beuningen|Gelderland|26725|51.8608|5.7667
Beverwijk|Noord-Holland|42866|52.4833|4.6569
Bladel|Noord-Brabant|20985|51.3683|5.2208
Blaricum|Noord-Holland|12724|52.2725|5.2417
Bloemendaal|Noord-Holland|23786|52.4025|4.6222
Bodegraven-Reeuwijk|Zuid-Holland|36569|52.0825|4.7500
Boekel|Noord-Brabant|11293|51.6033|5.6750
Borger-Odoorn|Drenthe|26014|52.9233|6.7931
Borne|Overijssel|24639|52.3014|6.7482
Borsele|Zeeland|23121|51.4233|3.7347
Boxtel|Noord-Brabant|33979|51.5908|5.3292
Breda|Noord-Brabant|188078|51.5866|4.7760
Bronckhorst|Gelderland|36119|52.0508|6.3097
Brummen|Gelderland|21286|52.0900|6.1556
Brunssum|Limburg|27770|50.9467|5.9708
Bunnik|Utrecht|16108|52.0667|5.1986
Bunschoten|Utrecht|22619|52.2430|5.3788
Buren|Gelderland|27773|51.9117|5.3319
Capelle aan den IJssel|Zuid-Holland|67925|51.9292|4.5778
Castricum|Noord-Holland|36366|52.5483|4.6694
Coevorden|Drenthe|35725|52.6610|6.7405
Cranendonck|Noord-Brabant|20841|51.3042|5.5889
Culemborg|Gelderland|29944|51.9550|5.2278
Dalfsen|Overijssel|29683|52.5117|6.2569
Dantumadiel|Fryslân|19135|53.2905|5.9978
De Bilt|Utrecht|43718|52.1100|5.1806
De Fryske Marren|Fryslân|51929|52.9657|5.8030
De Ronde Venen|Utrecht|45813|52.2067|4.8625
De Wolden|Drenthe|24580|52.6717|6.4272
Delft|Zuid-Holland|109577|52.0067|4.3556
Den Helder|Noord-Holland|56432|52.9599|4.7593
Deurne|Noord-Brabant|33180|51.4745|5.8022
Deventer|Overijssel|103405|52.2550|6.1639
Diemen|Noord-Holland|32977|52.3396|4.9626
Dijk en Waard|Noord-Holland|90076|52.6742|4.8056
Dinkelland|Overijssel|26739|52.3767|7.0083
Doesburg|Gelderland|11079|52.0125|6.1389
Doetinchem|Gelderland|59623|51.9650|6.2889
Dongen|Noord-Brabant|27095|51.6267|4.9389
Dordrecht|Zuid-Holland|122070|51.8100|4.6736
Drechterland|Noord-Holland|20496|52.6625|5.2028
Drimmelen|Noord-Brabant|28192|51.6767|4.7931
Dronten|Flevoland|44354|52.5250|5.7181
Druten|Gelderland|19590|51.8883|5.6056
Duiven|Gelderland|24872|51.9467|6.0139
Echt-Susteren|Limburg|32041|51.1058|5.8736
Edam-Volendam|Noord-Holland|36917|52.4950|5.0708
Ede|Gelderland|123532|52.0333|5.6583
Eemnes|Utrecht|9755|52.2542|5.2611
Eemsdelta|Groningen|45106|53.3317|6.7472
Eersel|Noord-Brabant|20199|51.3575|5.3181
Eijsden-Margraten|Limburg|26034|50.7967|5.7653
Eindhoven|Noord-Brabant|246417|51.4408|5.4778
Elburg|Gelderland|23906|52.4475|5.8431
Emmen|Drenthe|109346|52.7792|6.9069
Enkhuizen|Noord-Holland|18895|52.7033|5.2917
Enschede|Overijssel|161738|52.2183|6.8958
Epe|Gelderland|33168|52.3475|5.9833
Ermelo|Gelderland|27856|52.2983|5.6222
Etten-Leur|Noord-Brabant|45237|51.5706|4.6356
Geertruidenberg|Noord-Brabant|22060|51.7017|4.8569
Geldrop-Mierlo|Noord-Brabant|40733|51.4217|5.5597
Gemert-Bakel|Noord-Brabant|31435|51.5558|5.6903
Gennep|Limburg|17789|51.6983|5.9736
Gilze en Rijen|Noord-Brabant|27343|51.5908|4.9194
Goeree-Overflakkee|Zuid-Holland|51867|51.7575|4.1653
Goes|Zeeland|39682|51.5042|3.8889
Goirle|Noord-Brabant|24327|51.5208|5.0667
Gooise Meren|Noord-Holland|60370|52.2958|5.1625
Gorinchem|Zuid-Holland|38671|51.8365|4.9724
Gouda|Zuid-Holland|75758|52.0167|4.7083
Groningen|Groningen|243768|53.2192|6.5667
Gulpen-Wittem|Limburg|14054|50.8158|5.8889
Haaksbergen|Overijssel|24359|52.1567|6.7389
Haarlem|Noord-Holland|167636|52.3808|4.6368
Haarlemmermeer|Noord-Holland|163128|52.3025|4.6889
Halderberge|Noord-Brabant|31183|51.5883|4.5347
Hardenberg|Overijssel|62932|52.5758|6.6194
Harderwijk|Gelderland|49387|52.3417|5.6208
Hardinxveld-Giessendam|Zuid-Holland|18762|51.8326|4.8358
Harlingen|Fryslân|16229|53.1748|5.4224
Hattem|Gelderland|12624|52.4750|6.0639
Heemskerk|Noord-Holland|39452|52.5111|4.6716
Heemstede|Noord-Holland|27593|52.3499|4.6230
Heerde|Gelderland|19226|52.3872|6.0402
Heerenveen|Fryslân|51787|52.9593|5.9185
Heerlen|Limburg|87461|50.8837|5.9815
Heeze-Leende|Noord-Brabant|16807|51.3828|5.5714
Heiloo|Noord-Holland|24312|52.6025|4.6882
Hellendoorn|Overijssel|36264|52.3883|6.4514
Helmond|Noord-Brabant|95874|51.4817|5.6611
Hendrik-Ido-Ambacht|Zuid-Holland|32689|51.8442|4.6389
Hengelo|Overijssel|83058|52.2658|6.7931
Het Hogeland|Groningen|48224|53.3300|6.5208
Heumen|Gelderland|16836|51.7650|5.8444
Heusden|Noord-Brabant|46026|51.7342|5.1389
Hillegom|Zuid-Holland|22822|52.2908|4.5833
Hilvarenbeek|Noord-Brabant|15961|51.4858|5.1375
Hilversum|Noord-Holland|94435|52.2233|5.1764
Hoeksche Waard|Zuid-Holland|90256|51.8242|4.4125
Hof van Twente|Overijssel|35446|52.2333|6.5861
Hollands Kroon|Noord-Holland|49522|52.8067|4.9986
Hoogeveen|Drenthe|56591|52.7225|6.4764
Hoorn|Noord-Holland|75645|52.6425|5.0597
Horst aan de Maas|Limburg|43917|51.4542|6.0514
Houten|Utrecht|50847|52.0283|5.1681
Huizen|Noord-Holland|41193|52.2992|5.2417
Hulst|Zeeland|27330|51.2800|4.0528
IJsselstein|Utrecht|33421|52.0200|5.0431
Kaag en Braassem|Zuid-Holland|29168|52.2033|4.6333
Kampen|Overijssel|56177|52.5550|5.9111
Kapelle|Zeeland|13009|51.4863|3.9580
Katwijk|Zuid-Holland|66966|52.1942|4.4222
Kerkrade|Limburg|45311|50.8658|6.0625
Koggenland|Noord-Holland|23587|52.6258|4.9472
Krimpen aan den IJssel|Zuid-Holland|29626|51.9167|4.6028
Krimpenerwaard|Zuid-Holland|57785|51.9725|4.7736
Laarbeek|Noord-Brabant|23220|51.5289|5.6338
Land van Cuijk|Noord-Brabant|91722|51.7267|5.8794
Landgraaf|Limburg|37112|50.9022|6.0252
Landsmeer|Noord-Holland|11661|52.4308|4.9153
Lansingerland|Zuid-Holland|65594|51.9931|4.4787
Laren|Noord-Holland|11439|52.2567|5.2278
Leeuwarden|Fryslân|128810|53.2027|5.8097
Leiden|Zuid-Holland|130108|52.1583|4.4931
Leiderdorp|Zuid-Holland|27736|52.1583|4.5292
Leidschendam-Voorburg|Zuid-Holland|78229|52.0853|4.3726
Lelystad|Flevoland|84080|52.5083|5.4750
Leudal|Limburg|36006|51.2500|5.8986
Leusden|Utrecht|31681|52.1325|5.4319
Lingewaard|Gelderland|47314|51.8917|5.8986
Lisse|Zuid-Holland|23447|52.2600|4.5569
Lochem|Gelderland|34289|52.1592|6.4111
Loon op Zand|Noord-Brabant|23850|51.6275|5.0750
Lopik|Utrecht|14724|51.9725|4.9486
Losser|Overijssel|23376|52.2608|7.0042
Maasdriel|Gelderland|26197|51.7717|5.3347
Maasgouw|Limburg|24406|51.1792|5.8944
Maashorst|Noord-Brabant|59222|51.6608|5.6194
Maassluis|Zuid-Holland|35832|51.9233|4.2500
Maastricht|Limburg|125285|50.8483|5.6889
Medemblik|Noord-Holland|46002|52.7717|5.1056
Meerssen|Limburg|18576|50.8875|5.7500
Meierijstad|Noord-Brabant|84304|51.6167|5.5486
Meppel|Drenthe|35810|52.6958|6.1944
Middelburg|Zeeland|50004|51.5000|3.6139
Midden-Delfland|Zuid-Holland|19377|51.9758|4.3139
Midden-Drenthe|Drenthe|34092|52.8633|6.5139
Midden-Groningen|Groningen|61433|53.1617|6.7611
Moerdijk|Noord-Brabant|38091|51.7017|4.6264
Molenlanden|Zuid-Holland|45271|51.8725|4.7833
Montferland|Gelderland|36873|51.9408|6.1319
Montfoort|Utrecht|13868|52.0458|4.9528
Mook en Middelaar|Limburg|8153|51.7525|5.8819
Neder-Betuwe|Gelderland|25708|51.9100|5.5694
Nederweert|Limburg|17492|51.2858|5.7486
Nieuwegein|Utrecht|65971|52.0292|5.0806
Nieuwkoop|Zuid-Holland|29501|52.1508|4.7764
Nijkerk|Gelderland|45361|52.2200|5.4861
Nijmegen|Gelderland|187049|51.8425|5.8528
Nissewaard|Zuid-Holland|87639|51.8450|4.3292
Noardeast-Fryslân|Fryslân|45866|53.3222|5.9970
Noord-Beveland|Zeeland|7943|51.5717|3.7042
Noordenveld|Drenthe|31686|53.1375|6.4208
Noordoostpolder|Flevoland|50035|52.7108|5.7486
Noordwijk|Zuid-Holland|45734|52.2340|4.4447
Nuenen, Gerwen en Nederwetten|Noord-Brabant|24231|51.4700|5.5528
Nunspeet|Gelderland|29072|52.3792|5.7861
Oegstgeest|Zuid-Holland|25948|52.1800|4.4694
Oirschot|Noord-Brabant|19280|51.5050|5.3139
Oisterwijk|Noord-Brabant|32952|51.5792|5.1889
Oldambt|Groningen|39405|53.1442|7.0347
Oldebroek|Gelderland|24281|52.4450|5.9014
Oldenzaal|Overijssel|31794|52.3133|6.9292
Olst-Wijhe|Overijssel|18835|52.3867|6.1347
Ommen|Overijssel|19031|52.5208|6.4208
Oost Gelre|Gelderland|29969|51.9867|6.5667
Oosterhout|Noord-Brabant|57924|51.6450|4.8597
Ooststellingwerf|Fryslân|25824|52.9916|6.2910
Oostzaan|Noord-Holland|9694|52.4392|4.8747
Opmeer|Noord-Holland|12199|52.7067|4.9444
Opsterland|Fryslân|30059|53.0066|6.0640
Oss|Noord-Brabant|94634|51.7650|5.5181
Oude IJsselstreek|Gelderland|39402|51.8900|6.3778
Ouder-Amstel|Noord-Holland|14447|52.2950|4.9075
Oudewater|Utrecht|10223|52.0250|4.8681
Overbetuwe|Gelderland|48919|51.9192|5.8417
Papendrecht|Zuid-Holland|32178|51.8317|4.6875
Peel en Maas|Limburg|45534|51.3267|5.9792
Pekela|Groningen|12517|53.1042|7.0097
Pijnacker-Nootdorp|Zuid-Holland|57932|52.0195|4.4295
Purmerend|Noord-Holland|95168|52.5050|4.9597
Putten|Gelderland|24978|52.2592|5.6069
Raalte|Overijssel|38364|52.3858|6.2750
Reimerswaal|Zeeland|23325|51.4925|4.0500
Renkum|Gelderland|31419|51.9767|5.7333
Renswoude|Utrecht|5753|52.0733|5.5403
Reusel-De Mierden|Noord-Brabant|13577|51.3625|5.1653
Rheden|Gelderland|43661|52.0050|6.0292
Rhenen|Utrecht|20235|51.9592|5.5681
Ridderkerk|Zuid-Holland|47721|51.8725|4.6028
Rijssen-Holten|Overijssel|38675|52.3067|6.5181
Rijswijk|Zuid-Holland|59642|52.0363|4.3250
Roerdalen|Limburg|20806|51.1433|6.0000
Roermond|Limburg|60743|51.1942|5.9875
Roosendaal|Noord-Brabant|77559|51.5308|4.4653
Rotterdam|Zuid-Holland|670610|51.9225|4.4792
Rozendaal|Gelderland|1831|52.0058|5.9625
Rucphen|Noord-Brabant|23920|51.5317|4.5583
Schagen|Noord-Holland|47744|52.7875|4.7986
Scherpenzeel|Gelderland|10343|52.0800|5.4889
Schiedam|Zuid-Holland|81838|51.9192|4.3889
Schiermonnikoog|Fryslân|972|53.4802|6.1521
Schouwen-Duiveland|Zeeland|34631|51.6500|3.9194
Simpelveld|Limburg|10255|50.8342|5.9819
Sint-Michielsgestel|Noord-Brabant|30094|51.6417|5.3528
Sittard-Geleen|Limburg|92650|50.9983|5.8694
Sliedrecht|Zuid-Holland|26261|51.8208|4.7764
Sluis|Zeeland|23150|51.3083|3.3861
Smallingerland|Fryslân|56661|53.1125|6.0989
Soest|Utrecht|47682|52.1733|5.2917
Someren|Noord-Brabant|20188|51.3850|5.7111
Son en Breugel|Noord-Brabant|17959|51.5165|5.4961
Stadskanaal|Groningen|32013|52.9895|6.9504
Staphorst|Overijssel|17739|52.6450|6.2111
Stede Broec|Noord-Holland|22217|52.6883|5.2528
Steenbergen|Noord-Brabant|24476|51.5842|4.3194
Steenwijkerland|Overijssel|45472|52.7875|6.1208
Stein|Limburg|24744|50.9692|5.7667
Stichtse Vecht|Utrecht|65878|52.1392|5.0417
Súdwest-Fryslân|Fryslân|90421|53.0656|5.5318
Terneuzen|Zeeland|55132|51.3358|3.8278
Terschelling|Fryslân|4898|53.3822|5.2853
Texel|Noord-Holland|13815|53.0542|4.7972
Teylingen|Zuid-Holland|38470|52.2250|4.5222
Tholen|Zeeland|26851|51.5317|4.2208
Tiel|Gelderland|42370|51.8867|5.4292
Tilburg|Noord-Brabant|229836|51.5555|5.0913
Tubbergen|Overijssel|21397|52.4075|6.7847
Twenterand|Overijssel|34073|52.4608|6.5653
Tynaarlo|Drenthe|34736|53.0775|6.6167
Tytsjerksteradiel|Fryslân|32595|53.1833|6.0000
Uitgeest|Noord-Holland|13400|52.5292|4.7097
Uithoorn|Noord-Holland|31685|52.2375|4.8264
Urk|Flevoland|21958|52.6625|5.6014
Utrecht|Utrecht|374238|52.0908|5.1222
Utrechtse Heuvelrug|Utrecht|50550|52.0334|5.3457
Vaals|Limburg|10121|50.7708|6.0181
Valkenburg aan de Geul|Limburg|16431|50.8652|5.8320
Valkenswaard|Noord-Brabant|31714|51.3508|5.4597
Veendam|Groningen|27520|53.1067|6.8792
Veenendaal|Utrecht|69440|52.0286|5.5589
Veere|Zeeland|22067|51.5396|3.6581
Veldhoven|Noord-Brabant|46827|51.4183|5.4028
Velsen|Noord-Holland|69241|52.4600|4.6500
Venlo|Limburg|103789|51.3700|6.1681
Venray|Limburg|44662|51.5250|5.9750
Vijfheerenlanden|Utrecht|61669|51.9925|5.0917
Vlaardingen|Zuid-Holland|76409|51.9125|4.3417
Vlieland|Fryslân|1255|53.2970|5.0743
Vlissingen|Zeeland|45389|51.4425|3.5736
Voerendaal|Limburg|12375|50.8833|5.9298
Voorne aan Zee|Zuid-Holland|74304|51.8717|4.0708
Voorschoten|Zuid-Holland|25625|52.1275|4.4486
Voorst|Gelderland|25377|52.1700|6.1417
Vught|Noord-Brabant|32356|51.6533|5.2875
Waadhoeke|Fryslân|46911|53.1855|5.5412
Waalre|Noord-Brabant|17988|51.3867|5.4444
Waalwijk|Noord-Brabant|50302|51.6825|5.0708
Waddinxveen|Zuid-Holland|34000|52.0450|4.6514
Wageningen|Gelderland|42579|51.9700|5.6667
Wassenaar|Zuid-Holland|27100|52.1458|4.4028
Waterland|Noord-Holland|17525|52.4583|5.0375
Weert|Limburg|51079|51.2517|5.7069
West Betuwe|Gelderland|52948|51.8875|5.1917
West Maas en Waal|Gelderland|20330|51.8883|5.6056
Westerkwartier|Groningen|64896|53.2125|6.2736
Westerveld|Drenthe|20003|52.8342|6.3694
Westervoort|Gelderland|15151|51.9558|5.9722
Westerwolde|Groningen|26465|53.0275|7.1083
Westland|Zuid-Holland|115941|52.0258|4.1750
Weststellingwerf|Fryslân|26487|52.8755|5.9969
Wierden|Overijssel|24931|52.3592|6.5931
Wijchen|Gelderland|41545|51.8092|5.7250
Wijdemeren|Noord-Holland|24605|52.2392|5.1069
Wijk bij Duurstede|Utrecht|23945|51.9742|5.3417
Winterswijk|Gelderland|29231|51.9725|6.7194
Woensdrecht|Noord-Brabant|22208|51.4290|4.3036
Woerden|Utrecht|53724|52.0850|4.8833
Wormerland|Noord-Holland|16552|52.4950|4.8056
Woudenberg|Utrecht|14637|52.0808|5.4167
Zaanstad|Noord-Holland|161389|52.4531|4.8136
Zaltbommel|Gelderland|30385|51.8100|5.2444
Zandvoort|Noord-Holland|17469|52.3713|4.5331
Zeewolde|Flevoland|23899|52.3300|5.5417
Zeist|Utrecht|66641|52.0900|5.2333
Zevenaar|Gelderland|45041|51.9300|6.0708
Zoetermeer|Zuid-Holland|128434|52.0575|4.4931
Zoeterwoude|Zuid-Holland|9732|52.1200|4.4958
Zuidplas|Zuid-Holland|47843|51.9683|4.6097
Zundert|Noord-Brabant|22553|51.4717|4.6556
Zutphen|Gelderland|48752|52.1383|6.2014
Zwartewaterland|Overijssel|23448|52.6233|6.0403
Zwijndrecht|Zuid-Holland|44874|51.8175|4.6333
Zwolle|Overijssel|133141|52.5125|6.0944
"""
"""A line each: name, province, inhabitants, latitude, longitude."""
