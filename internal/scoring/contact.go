package scoring

import "unicode/utf8"

// Contact holds the features of a contact that the scorer reads. Strings are as stored in the contact; "" means
// unknown.
type Contact struct {
	Stage    string
	Email    string
	JobTitle string
	Source   string
	Tags     []string
	Company  bool
	Phone    bool
	Owner    bool
	Values   map[string]any // custom fields by key: string, float64 or bool
	// Engagement holds the sums of Clicks7 to Replies90, in this order; nil: none.
	Engagement []float64
}

// Levels that are not values of the contact itself.
const (
	present    = "present"
	absent     = "absent"
	executive  = "executive"
	manager    = "manager"
	junior     = "junior"
	other      = "other"
	none       = "0"
	some       = "1-4"
	many       = "5+"
	business   = "business"
	free       = "free"
	disposable = "disposable"
)

// pooledTags is the number of tags without their own weight that count. More such tags say more about the habits of the
// org than about the contact.
const pooledTags = 3

// term is one feature of one contact, with its level and weight.
type term struct {
	feature Feature
	level   string
	weight  float64
}

// most is the maximum number of terms of one contact: every feature once, its tags, and the custom fields of its model.
const (
	mostTags = 56
	mostOwn  = 8 + engagement + mostTags
	most     = mostOwn + maxModelFields
)

// contactTerms stores the contact's terms in room and returns the used part. It does not allocate.
func (m *Model) contactTerms(c *Contact, room *[most]term) []term {
	var fold [48]byte
	n := 0
	add := func(f Feature, level string) {
		room[n] = term{f, level, m.levelWeight(f, level)}
		n++
	}
	add(Stage, c.Stage)
	add(Company, presenceLevel(c.Company))
	add(EmailDomain, DomainKind(c.Email))
	add(JobTitle, seniorityLevel(c.JobTitle))
	room[n] = m.sourceTerm(c.Source, &fold)
	n++
	add(Phone, presenceLevel(c.Phone))
	add(Owner, presenceLevel(c.Owner))
	add(Attributes, amountLevel(len(c.Values)))
	n += m.engagementTerms(c, room[n:])
	pooled := 0
	for i, tag := range c.Tags {
		if i == mostTags {
			break
		}
		t := term{feature: Tag, level: tag}
		if w, ok := m.Weights[Tag][string(lowerWord(tag, &fold))]; ok {
			t.weight = w
		} else if pooled < pooledTags {
			t.weight = m.Weights[Tag][Other]
			pooled++
		}
		room[n] = t
		n++
	}

	for i := range m.Fields {
		f := &m.Fields[i]
		room[n] = f.fieldTerm(c.Values[f.Key])
		n++
	}

	return room[:n]
}

// engagementTerms stores the terms of the contact's engagement in room and returns their number. A contact without
// engagement has no such terms, unless their absence has a weight.
func (m *Model) engagementTerms(c *Contact, room []term) (n int) {
	for i := range engagements {
		f := engagements[i].feature
		t := term{feature: f, level: c.engagementLevel(i)}
		if t.weight = m.levelWeight(f, t.level); t.weight == 0 && t.level == unengaged {
			continue
		}
		room[n] = t
		n++
	}
	return n
}

// sourceTerm returns the term of the first word of s that the model has a weight for: "Google Ads", "webinar 2026-03".
func (m *Model) sourceTerm(s string, fold *[48]byte) term {
	t := term{feature: Source, level: s}
	if s == "" {
		t.level = absent
		t.weight = m.levelWeight(Source, absent)
		return t
	}

	for rest := s; ; {
		var word string
		if word, rest = nextWord(rest); word == "" {
			t.weight = m.Weights[Source][Other]
			return t
		}
		if w, ok := m.Weights[Source][string(lowerWord(word, fold))]; ok {
			t.weight = w
			return t
		}
	}
}

func presenceLevel(is bool) string {
	if is {
		return present
	}
	return absent
}

func amountLevel(n int) string {
	switch {
	case n <= 0:
		return none
	case n < 5:
		return some
	default:
		return many
	}
}

// ranks maps words of a job title to the holder's rank.
var ranks = map[string]string{
	"chief": executive, "ceo": executive, "cto": executive, "cfo": executive, "coo": executive, "cmo": executive,
	"cio": executive, "cro": executive,
	"founder": executive, "cofounder": executive, "owner": executive, "president": executive, "partner": executive,
	"vp": executive, "svp": executive,
	"evp": executive, "director": executive, "head": executive, "principal": executive, "geschäftsführer": executive,
	"manager": manager, "lead": manager, "leader": manager, "senior": manager, "sr": manager, "supervisor": manager,
	"architect": manager,
	"intern":    junior, "student": junior, "trainee": junior, "apprentice": junior, "assistant": junior,
	"junior": junior, "jr": junior, "praktikant": junior,
}

// seniorityLevel returns the highest rank among the words of the title, except that an assistant to a chief is an
// assistant.
func seniorityLevel(title string) string {
	if title == "" {
		return absent
	}

	var fold [48]byte
	best := other
	for word, rest := nextWord(title); word != ""; word, rest = nextWord(rest) {
		switch ranks[string(lowerWord(word, &fold))] {
		case junior:
			return junior
		case executive:
			best = executive
		case manager:
			if best == other {
				best = manager
			}
		}
	}

	return best
}

// nextWord returns the first run of letters and digits in s, and the rest of s. word is "" if there is none.
func nextWord(s string) (word, rest string) {
	start := -1
	for i := 0; i < len(s); i++ {
		c := s[i]
		part := c >= utf8.RuneSelf || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		switch {
		case part && start < 0:
			start = i
		case !part && start >= 0:
			return s[start:i], s[i:]
		}
	}

	if start < 0 {
		return "", ""
	}

	return s[start:], ""
}

// lowerWord stores s in room with ASCII letters in lower case. It returns nil for a word that does not fit, because
// such a word is never a key.
func lowerWord(s string, room *[48]byte) []byte {
	if len(s) > len(room) {
		return nil
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		room[i] = c
	}
	return room[:len(s)]
}

// Visit calls f with the level of each of the contact's built-in features, as a model with exactly the known levels
// reads them: unknown levels become Other. Words are in lower case. Custom fields are not visited. Learners use Visit
// to read a contact.
func (c *Contact) Visit(known func(f Feature, level string) bool, f func(f Feature, level string)) {
	one := func(g Feature, level string) {
		if !known(g, level) {
			level = Other
		}
		f(g, level)
	}
	one(Stage, c.Stage)
	one(Company, presenceLevel(c.Company))
	one(EmailDomain, DomainKind(c.Email))
	one(JobTitle, seniorityLevel(c.JobTitle))
	one(Source, c.sourceWord(known))
	one(Phone, presenceLevel(c.Phone))
	one(Owner, presenceLevel(c.Owner))
	one(Attributes, amountLevel(len(c.Values)))
	for i := range engagements {
		one(engagements[i].feature, c.engagementLevel(i))
	}

	pooled := 0
	for i, tag := range c.Tags {
		if i == mostTags {
			return
		}
		word := Word(tag)
		if known(Tag, word) {
			f(Tag, word)
		} else if pooled < pooledTags {
			f(Tag, Other)
			pooled++
		}
	}
}

func (c *Contact) sourceWord(known func(Feature, string) bool) string {
	if c.Source == "" {
		return absent
	}
	for word, rest := nextWord(c.Source); word != ""; word, rest = nextWord(rest) {
		if known(Source, Word(word)) {
			return Word(word)
		}
	}
	return Other
}

// Word returns the key of s in the weights of sources and tags: ASCII letters in lower case, or "" if s is too long.
func Word(s string) string {
	var room [48]byte
	return string(lowerWord(s, &room))
}

// SourceWords returns the words of a source; each is a separate level.
func SourceWords(source string) (words []string) {
	for word, rest := nextWord(source); word != ""; word, rest = nextWord(rest) {
		words = append(words, Word(word))
	}
	return words
}
