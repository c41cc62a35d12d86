package classify

import (
	"regexp"
	"strings"
)

// footerLine matches lines of footers of mails, ours or the writer's, which speak of unsubscribing to their reader.
var footerLine = regexp.MustCompile(`https?://|\bwww\.|click (?:here|the link|below)|(?:hier|bitte) klicken|` +
	`klicken sie|cliquez (?:ici|sur)|haga clic|haz clic|clicca|` +
	`clique aqui|klik hier|klicka har|klik her|klikk her|kliknij|нажмите|tiklayin|view (?:this|in) .{0,20}browser|` +
	`(?:you(?:'re| are)|sie) (?:receiv\w+|getting|erhalten) (?:this|these|diese)|you can (?:always )?unsubscribe|` +
	`if you (?:no longer|do not|don't|would rather not|'d rather not|prefer not).{0,80}(?:unsubscribe|e-?mails?|` +
	`reply|let me know|hear)|` +
	`wenn sie (?:keine|nicht|sich|diese).{0,80}(?:erhalten|abmelden|mochten)|si vous ne (?:souhaitez|voulez|` +
	`desirez) plus|pour vous desabonner|` +
	`si (?:ya )?no (?:desea|quiere)|para darse de baja|se non (?:desidera|vuole|vuoi)|per (?:cancellarsi|` +
	`disiscriversi)|se (?:nao|ja nao) (?:deseja|quer|pretende)|` +
	`para cancelar|als u geen|wilt u geen|om (?:u|je) (?:uit te schrijven|af te melden)|om du inte|hvis du ikke|` +
	`jesli nie chcesz|aby (?:sie )?(?:wypisac|zrezygnowac)|` +
	`если вы (?:не|больше)|чтобы отписаться|almak istemiyorsaniz|abonelikten cikmak icin|配信停止は|配信停止をご希望|退订请|如需退订|` +
	`수신거부는|\[?unsubscribe\]?<|^\[?unsubscribe\]? ?\| |\| ?\[?unsubscribe\]?`)

// longestFooter is the length of the longest line that is looked at, in bytes.
const longestFooter = 2000

// withoutFooters returns a text without the lines of footers.
func withoutFooters(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) <= longestFooter {
			folded := fold(line)
			if footerLine.MatchString(folded) && !asksFirst.MatchString(folded) {
				continue
			}
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

// asksFirst matches a line that a person begins, even if it quotes a link.
var asksFirst = regexp.MustCompile(`^(?:please|pls|kindly|can you|could you|i |i'd|we |bitte|ich |wir |merci de|` +
	`veuillez|je |nous |por favor|quiero|per favore|vorrei|quero|graag|ik |` +
	`jag |vi |jeg |prosze|chce|пожалуйста|прошу|я |lutfen)`)
