package parse

import (
	"regexp"
	"strings"
)

var (
	separator = regexp.MustCompile(`(?i)^[-_*=~ ]{2,}\s*(original message|original appointment|forwarded message|` +
		`ursprüngliche nachricht|weitergeleitete nachricht|original-?nachricht|message d'origine|message original|` +
		`message transféré|mail original|` +
		`mensaje original|mensaje reenviado|missatge original|messaggio originale|messaggio inoltrato|` +
		`mensagem original|` +
		`mensagem encaminhada|oorspronkelijk bericht|doorgestuurd bericht|ursprungligt meddelande|` +
		`originalmeddelande|opprinnelig melding|` +
		`oprindelig (meddelelse|besked)|alkuperäinen viesti|wiadomość oryginalna|oryginalna wiadomość|` +
		`исходное сообщение|вихідне повідомлення|` +
		`пересылаемое сообщение|orijinal mesaj|özgün ileti|původní zpráva|pôvodná správa|eredeti üzenet|` +
		`mesaj original|αρχικό μήνυμα|` +
		`оригинално съобщение|izvorna poruka|izvirno sporočilo|originalus laiškas|sākotnējais ziņojums|algne kiri|` +
		`pesan asli|thư gốc|` +
		`原始邮件|原始郵件|原邮件|元のメッセージ|원본 메시지|원본 메일|הודעה מקורית|الرسالة الأصلية|ข้อความเดิม)\s*[-_*=~ ]{2,}$`)
	anySeparator = regexp.MustCompile(`^[-_*=~]{3,} ?[^-_*=~]{3,60} ?[-_*=~]{3,}$`)
	rule         = regexp.MustCompile(`^[_-]{10,}$`)
	forwarded    = regexp.MustCompile(`(?i)^(begin forwarded message|anfang der weitergeleiteten nachricht|` +
		`début du message (transféré|réexpédié)|` +
		`inicio del mensaje reenviado|inizio messaggio inoltrato|início da mensagem (reencaminhada|encaminhada)|` +
		`begin doorgestuurd bericht) ?:$`)

	field = regexp.MustCompile(`(?i)^[*_]{0,2}(from|von|de|da|van|från|fra|lähettäjä|od|от|від|kimden|gönderen|` +
		`expéditeur|mittente|remitente|remetente|afsender|avsändare|` +
		`nadawca|відправник|отправитель|odesílatel|odosielateľ|feladó|de la|expeditor|από|pošiljatelj|nuo|no|saatja|` +
		`dari|từ|מאת|من|จาก|发件人|寄件者|寄件人|差出人|보낸 ?사람|보낸이)[*_]{0,2} ?[:：]`)
	otherField = regexp.MustCompile(`(?i)^[*_]{0,2}(sent|date|gesendet|datum|envoyé|date d'envoi|enviado( el| em)?|` +
		`enviada( em)?|enviat|fecha|inviato|data|verzonden|` +
		`skickat|sendt|dato|lähetetty|päiväys|wysłano|отправлено|дата|надіслано|изпратено|gönderildi|` +
		`gönderme tarihi|tarih|odesláno|odoslané|dátum|küldve|trimis|în data|στάλθηκε|ημερομηνία|` +
		`poslano|poslato|išsiųsta|nosūtīts|saadetud|dikirim|tanggal|đã gửi|ngày|נשלח|תאריך|تاريخ|التاريخ|ส่ง|วันที่|` +
		`发送时间|发送日期|日期|寄件日期|傳送日期|送信日時|日時|日付|보낸 ?날짜|` +
		`to|an|à|para|a|aan|till|til|vastaanottaja|do|кому|kime|komu|címzett|către|προς|prima|za|kam|adressaat|` +
		`kepada|đến|אל|إلى|ถึง|收件人|宛先|받는 ?사람|` +
		`cc|kopie|kopia|копия|bilgi|抄送|副本|참조|subject|betreff|objet|objeto|asunto|assunto|oggetto|onderwerp|ämne|` +
		`emne|aihe|temat|тема|konu|předmět|predmet|tárgy|subiect|θέμα|` +
		`zadeva|teema|temats|perihal|subjek|chủ đề|נושא|الموضوع|เรื่อง|主题|主旨|件名|제목|reply-to|antwort an|wichtigkeit|` +
		`importance)[*_]{0,2} ?[:：]`)
)

// isSeparator reports whether line i separates the reply from the mail that is answered.
func isSeparator(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	if line == outlookRule || forwarded.MatchString(line) {
		return true
	}
	if len(line) > 200 || !strings.ContainsAny(line[:1], "-_*=~") {
		return false
	}
	if strings.HasSuffix(line, line[:1]) && separator.MatchString(line) {
		return true
	}

	return (anySeparator.MatchString(line) || rule.MatchString(line)) && headerLines(afterEmpty(lines[i+1:])) > 0
}

// afterEmpty returns the lines behind the first empty ones.
func afterEmpty(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	return lines
}

// headerLines returns how many of the lines are the header of a mail as programs quote it, or 0. Its sender is among
// them.
func headerLines(lines []string) int {
	fields, hasSender, n := 0, false, 0
	for ; n < len(lines) && n < 12; n++ {
		line := strings.TrimSpace(lines[n])
		isSender := mayBeField(line) && field.MatchString(line)
		if len(line) > 1000 || !isSender && (!mayBeField(line) || !otherField.MatchString(line)) {
			if isContinued := n > 0 && line != "" && len(line) < 300 && fields > 0 && n+1 < len(lines) &&
				otherField.MatchString(strings.TrimSpace(lines[n+1])); isContinued {
				continue
			}
			break
		}
		hasSender = hasSender || isSender
		fields++
	}
	if !hasSender || fields < 2 {
		return 0
	}

	return n
}

// mayBeField reports whether a line has a colon where the name of a field would end.
func mayBeField(line string) bool {
	at := strings.IndexAny(line, ":：")
	return at > 1 && at < 40
}
