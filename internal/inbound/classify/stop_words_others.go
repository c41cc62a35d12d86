package classify

// othersWords has the words of other languages.
var othersWords = []words{
	{ // Finnish
		unsubscribe: `peru(?:kaa|a|uttakaa|uttaa|ta|n)?\w* (?:\w+ ){0,2}(?:tilau\w+|uutiskirje\w+)|perua tilau\w+|` +
			`peruuttakaa tilau\w+|tilauksen peruutus`,
		remove:  `poista\w*|poistakaa|poistaa`,
		me:      `minut|meidat|\w+(?:ni|mme)|osoite\w*|tietoni|yhteystie\w+`,
		list:    `\w*lista\w*|rekisteri\w*|tietokan\w*|postitus\w*|jakelu\w*|uutiskirje\w*`,
		mails:   `\w*viest\w*|\w*posti\w*|mainok\w*|uutiskirj\w*|maile\w*|mitaan`,
		stop:    `lopet\w+|lakatkaa`,
		write:   `laheta\w*|lahetta\w*|kirjoitta\w*|ottako|ota yhteytta|haint?a\w*|lahettako|lahettaa`,
		not:     `alkaa|ala|en|emme|ei`,
		more:    `enaa|lisaa|koskaan`,
		want:    `halua\w*|toivo\w*|tahdo\w*`,
		get:     `saada|vastaanot\w*|saamaan`,
		cannot:  `voi|voimme|ennen`,
		other:   `sopimu\w+|toimittaj\w+|rivi\w*|tarjou\w+|lasku\w+|kokou\w+`,
		person:  `kollega\w*|hanet|asiakka\w+`,
		phrases: `^(?:stop|peruuta|poista)$`,
	},
	{ // Polish
		unsubscribe: `wypis\w+|rezygnuj\w+ (?:\w+ ){0,2}(?:subskrypcj\w+|newsletter\w*|otrzymywania|mailing\w*)|` +
			`rezygnacja z (?:subskrypcji|newslettera)|anuluj\w* subskrypcj\w+|` +
			`zrezygnowac z (?:subskrypcji|newslettera|otrzymywania)`,
		remove: `usun\w*|usuwa\w*|wykresl\w+|skresl\w+|skasuj\w*|skasowa\w+|wymaz\w+|wyrzuc\w*`,
		me:     `mnie|mi|nam|nas|moj\w*|moich|nasz (?:adres|e-?mail)|nasze dane|naszych danych|ten adres|adres\w*`,
		list:   `list\w*|baz\w*|mailing\w*|newsletter\w*|rejestr\w*|danych|systemu|kontaktow|wysylk\w+|subskrypcj\w+`,
		mails: `wiadomosc\w*|mail\w*|e-?mail\w*|reklam\w*|ofert|oferty|newsletter\w*|informacj\w+|spam\w*|` +
			`korespondencj\w+|nic`,
		stop:   `przesta\w+|zaprzesta\w+|skoncz\w+|prosze o zaprzestanie|stop`,
		write:  `pis\w+|przysyl\w+|przesyl\w+|wysyl\w+|kontakt\w+|nekac|niepoko\w+|spamowa\w+`,
		not:    `nie|nigdy|zadnych`,
		more:   `wiecej|juz|dalszych|kolejnych|ponownie`,
		want:   `chc\w+|zycz\w+|potrzebuj\w+|interesuj\w+|zgadzam`,
		get:    `otrzymywa\w+|dostawa\w+|odbiera\w+|miec`,
		cannot: `mozemy|moge|przed|do czerwca|dopiero`,
		other: `dostawc\w+|umow\w+|pozycj\w+|ofert[ey]$|z oferty|faktur\w+|spotkani\w+|zamowieni\w+|rabat\w*|` +
			`koszt\w*|wiersz\w*|ubezpieczen\w+|szkoleni\w+`,
		person: `koleg\w+|kolezank\w+|pana|pani\b|klien\w+|uzytkownik\w+`,
		phrases: `^(?:stop|rezygnuje|wypisz|usun|wypisuje sie)$|(?:zadnych|bez|dosc) (?:wiecej )?(?:maili|` +
			`wiadomosci|reklam|ofert|spamu)|sprzeciw\w*.{0,50}(?:danych|marketing\w*)|` +
			`cofam zgode|wycofuje zgode|dajcie mi spokoj|prosze (?:mnie|nas) (?:wiecej )?nie niepokoic`,
	},
	{ // Czech and Slovak
		unsubscribe: `odhlas\w+|odhlasi\w+|zrus\w+ (?:\w+ ){0,2}(?:odber\w*|odebirani|newsletter\w*)|odhlaseni`,
		remove:      `vyrad\w*|odstran\w*|smaz\w*|vymaz\w*|vyskrtn\w*|vyjm\w*`,
		me:          `me|mne|ma|nas|muj|moji|moje|moju|nasi (?:adresu|e-?mail)|tuto adresu`,
		list:        `seznam\w*|databaz\w*|zoznam\w*|odber\w*|evidenc\w*|newsletter\w*|rozesil\w*`,
		mails:       `mail\w*|e-?mail\w*|zprav\w*|sprav\w*|nabid\w+|ponuk\w*|reklam\w*|newsletter\w*|nic`,
		stop:        `prestan\w*|ukoncet\w*|nechte`,
		write:       `posil\w+|pis\w+|psat|neposil\w+|nepis\w+|nekontaktuj\w*|kontakt\w+|obtez\w+|zasil\w+`,
		not:         `ne|nechci|nechceme|neposilejte|nepiste|nekontaktujte|nezasilejte|neposielajte|nikdy|zadne|ziadne`,
		more:        `uz|dalsi|vice|viac|znovu`,
		want:        `nechci|nechceme|nepreji|nechcem`,
		get:         `dostava\w+|prijima\w+|zasila\w+`,
		cannot:      `muzeme|nemuzeme|nemohu|pred`,
		other:       `smlouv\w+|dodavatel\w*|radek|nabidky$|faktur\w+|schuzk\w+|objednavk\w+`,
		person:      `koleg\w+|pana|pani|zakaznik\w*`,
		phrases: `^(?:stop|odhlasit|odhlaseni)$|\bne(?:posil|pis|kontaktuj|zasil|posiel|` +
			`obtez)\w* (?:\w+ ){0,2}(?:mi|me|mne|nam|nas|uz|dalsi|zadne|vice)\b|(?:zadne|` +
			`ziadne) (?:dalsi )?(?:maily|e-?maily|zpravy|nabidky)`,
	},
	{ // Russian and Ukrainian
		unsubscribe: `отпис(?:ать|ка|ки|аться|ывайте|ать меня)\pL*|отпиш\pL+|отказыва(?:юсь|емся) от рассыл\pL+|` +
			`отказ от рассыл\pL+|отключите рассылк\pL+|відпис\pL+|відпиш\pL+`,
		remove: `удал\pL+|убер\pL+|убра\pL+|исключ\pL+|вычеркн\pL+|сотр\pL+|видал\pL+|прибер\pL+|вилуч\pL+`,
		me:     `меня|нас|мой|мои|мою|моего|моих|моей|наш (?:адрес|e-?mail)|наши данные|этот адрес|адрес\pL*|мене`,
		list:   `спис\pL+|баз\pL+|рассыл\pL+|реестр\pL*|контакт\pL*|данны\pL+|розсил\pL+`,
		mails: `пис(?:ем|ьма|ьмо)|сообщени\pL+|рассыл\pL+|реклам\pL*|спам\pL*|предложени\pL+|почт\pL*|ничего|` +
			`листів|листи`,
		stop: `перестан\pL+|прекрат\pL+|хватит|остановите|припин\pL+|досить`,
		write: `пиш\pL+|писать|присыла\pL+|слать|шлите|отправля\pL+|посыла\pL+|беспоко\pL+|связыва\pL+|` +
			`контактир\pL+|надсила\pL+|звон\pL+`,
		not:    `не|никогда|ніколи`,
		more:   `больше|впредь|более|никогда|снова|більше`,
		want:   `хо(?:чу|тим|тел\pL*)|жела\pL+|нужн\pL+|интерес\pL+|просил\pL*`,
		get:    `получа\pL+|видеть|отримув\pL+`,
		cannot: `мож(?:ем|ете|ет)|могу|до июня|пока`,
		other: `поставщик\pL*|договор\pL*|строк\pL+|счет\pL*|встреч\pL+|заказ\pL*|скидк\pL+|вебинар\pL*|` +
			`страховк\pL+|подрядчик\pL*`,
		person: `коллег\pL+|его|ее|господин\pL*|клиент\pL*|пользовател\pL*`,
		phrases: `^(?:стоп|отписка|отписаться|удалить|хватит)$|(?:никаких|без) (?:больше )?(?:писем|рассылок|` +
			`сообщений)|отзываю (?:свое )?согласие|оставьте (?:меня|нас) в покое|прошу (?:больше )?не беспокоить`,
	},
	{ // Turkish
		unsubscribe: `abonelig\w+ (?:\w+ ){0,2}iptal (?:ed\w+|et\w*)|abonelik(?:ten)? (?:iptal|cik\w+)|` +
			`uyelik\w* (?:\w+ ){0,1}(?:iptal|cik\w+|sil\w+)|uyelikten cik\w+|` +
			`(?:aboneligimi|uyeligimi) (?:iptal|sonlandir\w*)|listeden cik(?:mak|ar\w*)|abonelikten ayril\w+`,
		remove: `sil(?:in|iniz|er|mek|inmesi)\w*|kaldir\w*|cikar\w*|cikart\w*`,
		me: `beni|bizi|adresimi|adresimizi|e-?postami|mailimi|bilgilerimi|verilerimi|numarami|ismimi|adimi|` +
			`bu adresi`,
		list:   `liste\w*|veri ?taban\w*|kayit\w*|kayd\w*|bulten\w*|sistem\w*|rehber\w*`,
		mails:  `e-?posta\w*|mail\w*|mesaj\w*|reklam\w*|bulten\w*|spam|ileti\w*|bir sey`,
		stop:   `birak\w*|kes(?:in|iniz|er)\w*|son ver\w*|durdur\w*|vazgec\w*`,
		write:  `gonder\w*|yaz\w*|at(?:ma|may)\w*|mail at\w*|iletisim\w*|rahatsiz\w*|ulas\w*|yolla\w*`,
		not:    `\w+m[ae]yin(?:iz)?|istemiyor\w*|\w+m[ae]z misiniz`,
		more:   `artik|bir daha|daha fazla|baska`,
		want:   `istemiyor\w*|istemem`,
		get:    `almak|almayi|gormek`,
		cannot: `edemiyor\w*|edemeyiz|once|istemiyor\w*`,
		other:  `tedarikci\w*|sozlesme\w*|satir\w*|teklif\w*|fatura\w*|toplanti\w*|siparis\w*|indirim\w*|sigorta\w*`,
		person: `arkadas\w*|bey|hanim|musteri\w*|meslektas\w*`,
		phrases: `^(?:stop|dur|iptal|ret)$|(?:mail|e-?posta|mesaj|reklam|bulten)\w* (?:\w+ ){0,2}(?:gondermeyin|` +
			`gondermeyiniz|atmayin|yollamayin|istemiyor\w*|almak istemiyor\w*)|` +
			`bir daha (?:\w+ ){0,4}\w+m[ae]yin(?:iz)?|bana (?:\w+ ){0,2}(?:yazmayin|gondermeyin|atmayin)|` +
			`beni rahat birak\w*|rizami geri`,
	},
}

// signs are requests in languages without spaces between words.
const signs = `配信(?:の|を)?(?:停止|中止|解除|不要)|(?:購読|登録)(?:を|の)?(?:解除|取消|取り消|削除|中止)|(?:メール|ご連絡|連絡|配信|送信|案内)(?:は|を|` +
	`も)?(?:今後)?(?:一切)?(?:不要|結構です|いりません|要りません|お断り|やめて|止めて|おやめ|停止)|` +
	`(?:メール|連絡|案内|広告)(?:を|は)?(?:二度と|もう|これ以上)?(?:送ら|送信し|よこさ|し)ない|(?:リスト|名簿|アドレス帳|データベース)から(?:私を|私の.{0,10}を|当社を|` +
	`弊社を)?(?:削除|外し|除外|はずし)|` +
	`(?:アドレス|個人情報|連絡先)を(?:削除|抹消)|` +
	`退订|退訂|取消(?:订阅|訂閱)|(?:不要|别|勿|請勿|请勿|停止)(?:再)?(?:给我|給我|向我|联系|聯絡|打扰|打擾|骚扰|发送|發送|发|發|寄).{0,8}|不(?:想|希望|` +
	`愿)(?:再)?(?:收到|接收)|(?:从|從|将我|把我|移除|删除|刪除).{0,12}(?:名单|名單|列表|邮件列表|数据库|通讯录)|` +
	`(?:名单|名單|列表|数据库).{0,6}(?:删除|刪除|移除)|(?:删除|刪除|移除)(?:我的|我)(?:邮箱|地址|信息|資料|资料)?|` +
	`수신 ?거부|구독 ?(?:취소|해지)|(?:메일|이메일|광고|연락).{0,8}(?:보내지|하지) ?(?:마|말)|(?:메일|연락|광고).{0,6}(?:그만|중단|원치|원하지)|(?:명단|목록|` +
	`리스트).{0,10}(?:삭제|제외|빼)|(?:제|내|저의) ?(?:주소|이메일|정보).{0,6}삭제`
