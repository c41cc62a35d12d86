package parse

import (
	"regexp"
	"strings"
)

// maxReply is how many bytes of a text are searched for the end of the reply.
const maxReply = 256 << 10

// Reply returns what a person has written, without the mail that is answered and without the signature.
func Reply(text string) string {
	if len(text) > maxReply {
		text = strings.ToValidUTF8(text[:maxReply], "")
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	lines = lines[:quoteAt(lines)]
	kept := lines[:0:0]
	for _, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			kept = append(kept, strings.TrimRight(line, " \t"))
		}
	}
	kept = kept[:signatureAt(kept)]
	out := strings.Trim(strings.Join(kept, "\n"), "\n \t")
	for strings.Contains(out, "\n\n\n") {
		out = strings.ReplaceAll(out, "\n\n\n", "\n\n")
	}
	return out
}

// quoteAt returns the index of the line at which the mail that is answered begins, or the number of lines.
func quoteAt(lines []string) int {
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, ">"):
			continue
		case isSeparator(line):
			return i
		case isHeaderBlock(lines[i:]):
			if i > 0 && strings.Trim(strings.TrimSpace(lines[i-1]), "_-") == "" && strings.TrimSpace(lines[i-1]) != "" {
				return i - 1
			}
			return i
		case introduces(lines, i):
			return i
		}
	}
	return len(lines)
}

// introduces reports whether line i is the start of the sentence above a quotation, such as "On Monday Ada wrote:",
// which may be folded over three lines.
func introduces(lines []string, i int) bool {
	joined := ""
	for n := range 3 {
		if i+n >= len(lines) {
			return false
		}
		line := strings.TrimSpace(lines[i+n])
		if n > 0 && (line == "" || strings.HasPrefix(line, ">")) {
			return false
		}
		joined = strings.TrimSpace(joined + " " + line)
		if len(joined) > 400 {
			return false
		}
		if (strings.HasSuffix(joined, ":") || strings.HasSuffix(joined, "：")) && wrote.MatchString(joined) {
			return n == 0 || startsQuote.MatchString(strings.TrimSpace(lines[i]))
		}
	}
	return false
}

var (
	wrote = regexp.MustCompile(`(?i)^(` + strings.Join([]string{
		`on\b.{6,}\bwrote ?:`, `.{3,} wrote on .{6,}:`, `.{0,60}<\S+@\S+> wrote ?:`,
		`am\b.{6,}\bschrieb\b.*:`, `.{3,} schrieb am .{6,}:`, `.{0,60}<\S+@\S+> schrieb\b.*:`,
		`le\b.{6,}\ba écrit ?:`, `el\b.{6,}\bescribió ?:`, `il\b.{6,}\bha scritto ?:`, `em\b.{6,}\bescreveu ?:`,
		`a \d.{6,}\bescreveu ?:`, `op\b.{6,}\b(schreef|het volgende geschreven)\b.*:`, `den\b.{6,}\bskrev\b.*:`,
		`.{3,} skrev .{0,60}\d.*:`, `på\b.{6,}\bskrev\b.*:`, `w dniu\b.{6,}\bnapisał(\(a\)|a)? ?:`,
		`.{6,}(пишет|написал|написала|написал\(а\)) ?:`, `dne\b.{6,}\bnapsal(\(a\)|a)? ?:`,
		`.{6,}\bkirjoitti ?:`, `.{6,}\byazdı ?:`, `.{4,}(写道|寫道) ?[:：]`, `.{4,}(さん|様)?(は|の)?(書きました|のメール|wrote) ?[:：]`,
		`.{6,}님이 작성 ?[:：]`, `на \d.{6,}написа ?:`,
	}, "|") + `)$`)
	startsQuote = regexp.MustCompile(`(?i)^(on|am|le|el|il|em|a|op|den|på|w dniu|dne|\d|в|на|.*\d{4})\b`)

	separator = regexp.MustCompile(`(?i)^[-_* ]{2,}\s*(original message|original appointment|forwarded message|` +
		`ursprüngliche nachricht|weitergeleitete nachricht|original-nachricht|message d'origine|message transféré|` +
		`mensaje original|mensaje reenviado|messaggio originale|messaggio inoltrato|mensagem original|` +
		`mensagem encaminhada|oorspronkelijk bericht|ursprungligt meddelande|originalmeddelande|opprinnelig melding|` +
		`oprindelig meddelelse|alkuperäinen viesti|wiadomość oryginalna|oryginalna wiadomość|исходное сообщение|` +
		`пересылаемое сообщение|orijinal mesaj|původní zpráva|原始邮件|原始郵件|元のメッセージ|원본 메시지)\s*[-_* ]{2,}$`)
	field = regexp.MustCompile(
		`(?i)^\*?(from|von|de|da|van|från|fra|lähettäjä|od|от|kimden|发件人|寄件者|差出人|보낸 사람)\*? ?[:：]`)
	sent = regexp.MustCompile(
		`(?i)^\*?(sent|date|gesendet|datum|envoyé|enviado|enviada|fecha|inviato|data|verzonden|` +
			`skickat|sendt|lähetetty|wysłano|отправлено|дата|gönderildi|tarih|odesláno|发送时间|日期|寄件日期|送信日時|日付|` +
			`보낸 날짜|to|an|à|para|subject|betreff|objet|asunto)\*? ?[:：]`)
)

func isSeparator(line string) bool {
	if line == outlookRule || strings.EqualFold(line, "begin forwarded message:") {
		return true
	}
	return len(line) <= 200 && strings.HasSuffix(line, line[:1]) && separator.MatchString(line)
}

// isHeaderBlock reports whether the lines begin with a header of a mail as Outlook quotes it.
func isHeaderBlock(lines []string) bool {
	if first := strings.TrimSpace(lines[0]); len(first) > 300 || !field.MatchString(first) {
		return false
	}
	for _, line := range lines[1:min(4, len(lines))] {
		if sent.MatchString(strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

var mobile = regexp.MustCompile(
	`(?i)^(sent from (my|mail for|outlook for|yahoo)|get outlook for|von meinem .{2,30} gesendet|` +
		`gesendet von|envoyé de(puis)? mon|enviado desde mi|inviato da(l mio)?|enviado (do|a partir do) meu|` +
		`verzonden vanaf mijn|verstuurd vanaf mijn|skickat från min|sendt fra min|lähetetty .{2,30}(sta|stä)\b|` +
		`wysłane z|отправлено с|iphone'umdan gönderildi|odesláno z|发自我的|iphoneから送信|나의 .{2,20}에서 보냄)`)

// signatureAt returns the index of the line at which the signature begins, or the number of lines.
func signatureAt(lines []string) int {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "--" || trimmed == "—" || i > 0 && i >= len(lines)-6 && mobile.MatchString(trimmed) {
			return i
		}
	}
	return len(lines)
}
