package classify

import (
	"regexp"
	"strings"
	"sync"
)

// rules are the expressions of a language.
type rules struct {
	verbs, unsubscribe, removes, takes, stops, dontWrite, dontWant, phrases *regexp.Regexp
	dont, cannot, not, other, person, fromList, toList, toMe                *regexp.Regexp
	wants, notMe, notMails, getsMore                                        *regexp.Regexp
}

// compiled returns the rules of every language.
var compiled = sync.OnceValue(func() []rules {
	spoken := languages()
	all := make([]rules, len(spoken))
	for i := range spoken {
		all[i] = spoken[i].compile()
	}
	return all
})

// bounded returns an expression of the alternatives as whole words.
func bounded(alternatives string) string {
	return `(?:^|[^\pL\d])(?:` + alternatives + `)(?:$|[^\pL\d])`
}

// near returns an expression of alternatives behind each other, with at most n letters between them.
func near(first, second string, n string) string {
	return `(?:^|[^\pL\d])(?:` + first + `)(?:[^\pL\d]|[^\pL\d].{0,` + n + `}[^\pL\d])(?:` + second + `)(?:$|[^\pL\d])`
}

func either(all ...string) *regexp.Regexp { return regexp.MustCompile(strings.Join(all, "|")) }

func (w *words) compile() rules {
	removing := w.unsubscribe + `|` + w.remove
	var takes *regexp.Regexp
	if w.take != "" {
		removing += `|` + w.take
		takes = either(near(w.take, w.me, "30"), near(w.me, w.take, "45"))
	}

	return rules{
		verbs:       either(bounded(removing + `|` + w.stop + `|` + w.write + `|` + w.want)),
		getsMore:    either(near(w.get, w.more, "20"), near(w.more, w.get, "20")),
		takes:       takes,
		unsubscribe: either(bounded(w.unsubscribe)),
		removes:     either(near(w.remove, w.me, "30"), near(w.me, w.remove, "45")),
		stops: either(near(w.stop, w.write, "40"), near(w.stop, w.mails, "40"),
			near(w.write, w.stop, "20"), near(w.mails, w.stop, "40")),
		dontWrite: either(near(w.not, w.write, "25"), near(w.write, w.not, "25"), near(w.more, w.write, "25"),
			`(?:^|[^\pL])(?:ne|nao|no|non)?(?:m'|nous )(?:`+w.write+`)`),
		notMe: either(near(w.not, w.more, "45"), near(w.more, w.not, "45"),
			near(w.not, w.me, "25"), near(w.me, w.not, "40")),
		notMails: either(near(w.not, w.mails, "45"), near(w.mails, w.not, "30")),
		dontWant: either(near(w.not, w.want, "15"), near(w.want, w.not, "25"), near(w.want, w.get, "40")),
		phrases:  either(w.phrases),
		dont:     either(near(w.not, removing, "15"), near(removing, w.not, "25")),
		cannot:   either(near(w.cannot, removing, "40"), near(removing, w.cannot, "40")),
		other:    either(bounded(w.other)),
		person:   either(bounded(w.person)),
		toList:   either(bounded(w.list), bounded(w.mails)),
		toMe:     either(bounded(w.me)),
		wants:    either(bounded(w.want), bounded(w.get)),
		not:      either(bounded(w.not)),
		fromList: either(bounded(w.list)),
	}
}
