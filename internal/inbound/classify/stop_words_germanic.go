package classify

// germanicWords has the words of Germanic languages.
var germanicWords = []words{
	{ // English
		unsubscribe: `unsubscribe|unsubscription|unsuscribe|unsubcribe|un-subscribe|opt(?:ing)?[- ]?(?:me |us )?out`,
		remove: `remove|delete|drop|strike|erase|cross|scrub|purge|exclude|removing|deleting|removal of|` +
			`removed|deleted`,
		take: `take|taken|taking|get`,
		me: `me|us|my|our (?:e-?mail|address|name|company|details|data|contact|office|domain)|this (?:e-?mail|` +
			`address|inbox)|` +
			`(?:e-?mail )?address`,
		list: `lists?|mailing\w*|data ?base|records?|systems?|distribution\w*|newsletters?|crm|contacts|files?|` +
			`campaigns?|sequence|` +
			`outreach|communications?|off`,
		mails: `e-?mails?|mails?|mailings?|messages?|newsletters?|communications?|correspondence|spam|ads|adverts?|` +
			`advertising|marketing|` +
			`solicitations?|offers|promotions?|these|this stuff`,
		stop: `stop|cease|quit|discontinue|refrain from|desist|halt`,
		write: `contact\w*|e-?mail\w*|mail\w*|writ\w+|messag\w+|bother\w*|disturb\w*|spam\w*|reach\w* out|send\w*|` +
			`communicat\w+|` +
			`pester\w*|harass\w*|follow\w* up|approach\w*`,
		not:  `do not|don't|dont|never|not to|please not|no longer`,
		more: `again|any ?more|any further|ever|more|further|anything`,
		want: `want\w*|wish\w*|like|care|need|desire|interested`,
		get:  `receiv\w+|get|getting|hear\w*|be contacted|have`,
		cannot: `can't|cannot|can not|couldn't|could not|unable|not able|won't|will not|wouldn't|would not|didn't|` +
			`did not|had to|` +
			`have to|must|until|before|without`,
		other: `supplier|contract|vendor|provider|competitor\w*|webinar|meeting|quote|invoice|orders?|item|line|` +
			`fees?|costs?|charges?|` +
			`discount|their|service|plan|trial|event|clause|slide|logo|section|attachment|agreement|subscription|` +
			`course|insurance|call|people|customers?|users|clients?|recipients|subscribers`,
		person: `him|her|them|mrs?|ms|colleague\w*|boss|wife|husband|assistant`,
		phrases: `leave (?:me|us) alone|^(?:please )?(?:stop|remove|end|quit|cancel|halt)(?: please)?$|` +
			`no (?:more|further) (?:\w+ ){0,2}(?:e-?mails?|mails?|messages?|newsletters?|contact|communications?|` +
			`correspondence|spam|offers)|` +
			`withdraw (?:my|our) consent|object to (?:the |your )?(?:\w+ ){0,3}(?:marketing|processing|use of my)|` +
			`right to be forgotten|` +
			`right to erasure|(?:unsubscribed|opted out).{0,60}\bstill\b|\bstill\b.{0,40}(?:unsubscribed|opted out)|` +
			`go away|` +
			`lose my (?:e-?mail|address|number)|(?:no longer|do not|don't|never) (?:wish|want|care|like) to (?:hear|` +
			`be contacted|receive)|get (?:me|us) off|` +
			`(?:do not|don't|never) (?:send|mail) (?:\w+ ){0,2}(?:these|this|such)`,
	},
	{ // German
		unsubscribe: `abmelden|abbestellen|austragen|abmeldung|abbestellung|meld\w* (?:\w+ ){0,4}ab|` +
			`trag\w* (?:\w+ ){0,4}aus|` +
			`bestell\w* (?:\w+ ){0,5}ab|abzumelden|auszutragen|abgemeldet werden|ausgetragen werden|` +
			`kundig\w* (?:\w+ ){0,2}newsletter`,
		take: `nehm\w*|nimm\w*|schmeiss\w*|werf\w*`,
		remove: `losch\w*|loesch\w*|entfern\w*|streich\w*|herausnehm\w*|rausnehm\w*|zu (?:loschen|entfernen|` +
			`streichen)|` +
			`sperr\w*|geloscht|gestrichen|entfernt|loschung`,
		me: `mich|uns|meine\w*|unsere (?:e-?mail|mail|adresse|daten|firma|anschrift|kontaktdaten)|unserer (?:daten|` +
			`adresse)|diese (?:e-?mail-?)?adresse|` +
			`die (?:e-?mail-?|mail-?)?adresse`,
		list: `\w*verteiler\w*|\w*listen?|newsletter\w*|datenbank\w*|kartei|system\w*|datenbestand|bestand|` +
			`adressbuch|daten|raus|heraus|aussendung\w*`,
		mails: `e-?mails?|mails?|nachrichten|werbung|werbe\w+|newsletter\w*|zusendung\w*|zuschriften|angebote|post|` +
			`kontaktaufnahme\w*|` +
			`anschreiben|infos|informationen|spam`,
		stop: `hor\w* (?:\w+ ){0,2}auf|aufhoren|unterlass\w*|einstell\w*|stell\w* (?:\w+ ){0,6}ein|stopp\w*|` +
			`verzicht\w*|lass\w*|` +
			`seh\w* (?:\w+ ){0,5}ab|verschon\w*`,
		write: `schreib\w*|anschreib\w*|kontaktier\w*|schick\w*|send\w*|zusend\w*|zuschick\w*|mailen|mailt|` +
			`anmail\w*|belastig\w*|kontakt\w*|` +
			`behellig\w*|melden sie sich|anzuschreiben|kontaktaufnahme|mich anzumailen`,
		not:  `nicht|keine?n?r?|nie|niemals`,
		more: `mehr|weitere\w*|kunftig|zukunft|wieder|je`,
		want: `mocht\w*|will|wollen|wunsch\w*|brauch\w*|benotig\w*|leg\w* keinen wert`,
		get:  `erhalt\w*|bekomm\w*|empfang\w*|haben|horen|kriegen`,
		cannot: `konnen|kann|konnte\w*|erst (?:im|in|ab|nach)|noch nicht|vor \w+ nicht|muss\w*|fur heute|heute|` +
			`morgen|sobald|bis juni`,
		other: `lieferant\w*|vertrag\w*|anbieter\w*|position\w*|angebot|rechnung\w*|zeile\w*|webinar\w*|termin\w*|` +
			`kurs\w*|meeting\w*|` +
			`bestellung\w*|rabatt\w*|gebuhr\w*|kosten|absatz|folie\w*|versicherung\w*|abo bei|fur heute|schule|` +
			`training\w*|verpassen|post$`,
		person: `herrn?|frau|kolleg\w*|ihn|chef\w*|mitarbeiter\w*|kunden|empfanger\w*|nutzer`,
		phrases: `^(?:bitte )?(?:abmelden|austragen|loschen|stopp?|raus)(?: bitte)?$|(?:keine?|` +
			`null) (?:(?:weitere\w*|ihrer?|solche\w*|derartige\w*|mehr|eurer?) )*(?:e-?mails?|mails|nachrichten|` +
			`werbung|` +
			`newsletter|zusendungen|infos?|kontaktaufnahme)\b.{0,12}(?:mehr|bitte|!|\.|$)|` +
			`widerspr\w+.{0,60}(?:daten|werb\w*|nutzung|verarbeitung)|` +
			`lass\w* (?:\w+ )?(?:mich|uns) in ruhe|in ruhe lassen|(?:mich|uns) (?:\w+ ){0,2}(?:raus|heraus)\b|` +
			`seh\w* (?:\w+ ){0,2}von (?:\w+ ){0,3}(?:e-?mails?|mails|nachrichten|zusendungen|werbung|kontakt\w*|` +
			`anschreiben) ab|` +
			`verzicht\w* (?:\w+ ){0,3}auf (?:\w+ ){0,3}(?:e-?mails?|mails|nachrichten|zusendungen|werbung)|` +
			`kein interesse an (?:weiteren |ihren |euren )?(?:e-?mails|mails|newslettern?|werbung|nachrichten)`,
	},
	{ // Dutch
		unsubscribe: `uitschrij\w+|afmeld\w*|af te melden|uit te schrijven|meld\w* (?:\w+ ){0,4}af|` +
			`schrij\w* (?:\w+ ){0,4}uit|opzeggen van de nieuwsbrief|uitgeschreven`,
		take:   `haal\w*|halen|gooi\w*`,
		remove: `verwijder\w*|schrap\w*|wis\w*|verwijderd|te verwijderen|verwijdering`,
		me:     `me|mij|ons|mijn|m'n|onze? (?:adres|gegevens|e-?mail\w*|mailadres|bedrijf)|dit (?:e-?mail)?adres`,
		list: `\w*lijst\w*|bestand\w*|database|databank|nieuwsbrief\w*|systeem|adresboek|verzendlijst|` +
			`mailing\w*|administratie|gegevens`,
		mails: `e-?mails?|mails?|mailtjes|berichten|reclame|nieuwsbrie\w+|spam|post|aanbiedingen|informatie|` +
			`niets|contact`,
		stop: `stop\w*|ophouden|hou\w* (?:\w+ )?op|staak\w*|laat\w* (?:\w+ )?(?:na|ophouden)`,
		write: `schrijv\w+|stur\w+|stuur\w*|mailen|gemaild|contacter\w+|contact\w*|bericht\w*|benader\w*|` +
			`lastig|zend\w*|toestur\w+|spammen`,
		not:    `niet|niets|geen|nooit`,
		more:   `meer|langer|ooit|verder|verdere`,
		want:   `wil\w*|wens\w*|hoef\w*|prijs op|behoefte`,
		get:    `ontvang\w*|krijg\w*|hebben|horen|te ontvangen`,
		cannot: `kan|kunnen|pas in|voor juni|vandaag|moet|tot \w+`,
		other: `leverancier\w*|contract\w*|regel|offerte|factu\w+|vergadering|afspraak|bestelling|korting|` +
			`kosten|artikel|training|cursus|verzekering|vandaag`,
		person: `collega\w*|meneer|mevrouw|dhr|mevr|hem|haar|klanten|gebruikers`,
		phrases: `^(?:stop|uitschrijven|afmelden|verwijderen)(?: aub| graag| alstublieft)?$|` +
			`geen (?:\w+ ){0,2}(?:e-?mails?|mails?|berichten|reclame|nieuwsbrieven|spam) meer|` +
			`laat (?:me|mij|ons) met rust|maak bezwaar|trek (?:mijn )?toestemming in|stop met mail\w*`,
	},
	{ // Swedish
		unsubscribe: `avregistrer\w*|avprenumer\w*|avanmal\w*|avslut\w* (?:\w+ ){0,2}prenumeration\w*|avbestall\w*|` +
			`sag\w* upp (?:\w+ ){0,1}prenumeration\w*`,
		remove: `ta bort|tag bort|ta \w+ bort|stryk\w*|radera\w*|plocka bort|avlagsna\w*|tas bort|strykas`,
		me:     `mig|oss|min|mina|mitt|var (?:adress|e-?post)|vara uppgifter|denna adress|adressen`,
		list: `list\w*|register|registret|databas\w*|utskick\w*|nyhetsbrev\w*|sandlist\w*|kontakter|` +
			`mejllist\w*|system\w*|era`,
		mails: `mejl|mail|e-?post\w*|e-?mail|meddelanden|nyhetsbrev\w*|reklam|utskick|spam|erbjudanden|brev|` +
			`inget|nagot`,
		stop:   `sluta\w*|upphor\w*|stopp\w*|lat bli`,
		write:  `mejla\w*|maila\w*|skriv\w*|skicka\w*|kontakta\w*|hor\w* av|stor\w*|spamma\w*|sanda|sand`,
		not:    `inte|inga|ej|aldrig|inget|icke`,
		more:   `fler|mer|igen|langre|mera|nagonsin`,
		want:   `vill|onskar|behover|intresserad`,
		get:    `ha|fa|ta emot|hora|motta`,
		cannot: `kan|forran|maste|i dag|idag|i morgon|innan`,
		other: `leverantor\w*|avtal\w*|rad|offert\w*|faktur\w*|mote\w*|bestallning\w*|rabatt\w*|kostnad\w*|` +
			`webbinari\w*|kurs\w*|forsakring\w*|utbildning\w*`,
		person: `kolleg\w*|honom|henne|herr|fru|kunder\w*|anvandar\w*`,
		phrases: `^(?:stopp?|avregistrera|avsluta|avanmal\w*)(?: tack)?$|(?:inga|inte) (?:fler|mer) (?:mejl|` +
			`mail|e-?post\w*|meddelanden|utskick|reklam)|lamna (?:mig|oss) i fred`,
	},
	{ // Danish and Norwegian
		unsubscribe: `afmeld\w*|avmeld\w*|meld\w* (?:\w+ ){0,3}(?:fra|av|ut)|framelde?\w*|` +
			`opsig\w* (?:\w+ ){0,1}(?:nyhedsbrev\w*|abonnement\w*)|avslutt\w* abonnement\w*`,
		take:   `tag|ta`,
		remove: `fjern\w*|slet\w*|slett\w*|stryg\w*|stryk\w*|fjernes|slettes`,
		me: `mig|meg|os|oss|min|mine|mitt|vores (?:adresse|e-?mail|data)|var adresse|denne adresse\w*|` +
			`adressen`,
		list: `\w*list\w*|database\w*|register\w*|kartotek\w*|nyhedsbrev\w*|nyhetsbrev\w*|system\w*|` +
			`kontakter|mailingliste\w*|af|av|ud|ut`,
		mails: `mails?|e-?mails?|e-?post\w*|beskeder|meldinger|nyhedsbrev\w*|nyhetsbrev\w*|reklame\w*|spam|` +
			`henvendelser|tilbud|noget|noe`,
		stop:   `stop\w*|stopp\w*|slutt?|hold\w* op|lad vaere|ophor\w*|la vaere`,
		write:  `skriv\w*|send\w*|kontakt\w*|maile\w*|forstyr\w*|spam\w*|henvend\w*`,
		not:    `ikke|ingen|aldrig|aldri|ej|inte`,
		more:   `flere|mere|mer|igen|igjen|laengere|lenger|nogensinde`,
		want:   `vil|onsker|onske|behov|interesseret|interessert|gider`,
		get:    `modtag\w*|motta\w*|fa|faa|ha|have|hore|here`,
		cannot: `kan|forst|ma|maa|i dag|i morgen|inden|for juni`,
		other: `leverandor\w*|aftale\w*|avtale\w*|linje\w*|tilbuddet|faktura\w*|mode\w*|mote\w*|ordre\w*|` +
			`rabat\w*|gebyr\w*|afbud|webinar\w*|kurs\w*|forsikring\w*`,
		person: `kolleg\w*|ham|hende|henne|hr|fru|kunder\w*|bruger\w*|bruker\w*`,
		phrases: `^(?:stopp?|afmeld|avmeld|slet|slett)(?: tak| takk| venligst)?$|(?:ikke|ingen) (?:flere|mere|` +
			`mer) (?:mails?|e-?mails?|e-?post\w*|beskeder|meldinger|reklamer?)|` +
			`lad (?:mig|os) vaere i fred|la (?:meg|oss) vaere i fred`,
	},
}
