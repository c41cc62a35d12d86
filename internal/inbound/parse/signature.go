package parse

import (
	"regexp"
	"strings"
)

// mobile matches what mail programs write below a mail.
var mobile = regexp.MustCompile(
	`(?i)^(sent (from|with|via|using) (my|mail|outlook|yahoo|proton|gmail|the |a |an |samsung|iphone|ipad|android|` +
		`blackberry|spark|tuta)|` +
		`get outlook for|von meinem .{2,30} gesendet|gesendet (von|mit|über|aus)|diese nachricht wurde von mein|` +
		`envoyé (de|depuis|à partir de|avec) |obtenir outlook|télécharger outlook|enviado (desde|con) |` +
		`obtener outlook|inviato (da|con)(l)? ?|` +
		`ottieni outlook|enviado (do|da|a partir do|pelo|de|via) |obter o outlook|verzonden (vanaf|met|via) |` +
		`verstuurd vanaf|outlook voor .{2,12} downloaden|` +
		`skickat från|skaffa outlook|sendt fra|hent outlook|få outlook|lähetetty .{2,30}|hanki outlook|wysłane? z |` +
		`pobierz outlook|отправлено (с|из)|` +
		`надіслано з|скачать outlook|iphone'?umdan gönderildi|.{2,20}(dan|den) gönderildi|odesláno z|odoslané z|` +
		`elküldve|küldve az? |trimis de pe|` +
		`στάλθηκε από|изпратено от|poslano (s|z|iz) |išsiųsta iš|nosūtīts no|saadetud minu|dikirim dari|đã gửi từ|` +
		`được gửi từ|` +
		`发自我的|從我的 .{2,12} 傳送|从我的.{2,12}发送|iphoneから送信|.{2,20}から送信|나의 .{2,20}에서 보냄|.{2,20}에서 보냄|נשלח מה|أُ?رسلت? من|` +
		`ส่งจาก)`)

// signatureAt returns the index of the line at which the signature begins, or the number of lines. isBelow reports that
// the lines stand below a quotation.
func signatureAt(lines []string, isBelow bool) int {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "--" || trimmed == "—" || trimmed == "__" ||
			i > 0 && i >= len(lines)-8 && len(trimmed) >= 20 && strings.Trim(trimmed, "_") == "" || // a list's footer
			(i > 0 || isBelow) && i >= len(lines)-6 && len(trimmed) < 120 && mobile.MatchString(trimmed) {
			return i
		}
	}
	return len(lines)
}
