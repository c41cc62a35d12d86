package plan

import (
	"fmt"
	"strings"
	"time"
)

// companies makes up n companies with different names. Each is created with its first contact.
func (m *maker) companies(n int) {
	for _, i := range m.Perm(len(firstWords) * len(secondWords))[:n] {
		name := firstWords[i%len(firstWords)] + " " + secondWords[i/len(firstWords)]
		m.Companies = append(m.Companies, Company{
			Name: name, Domain: strings.ToLower(strings.ReplaceAll(name, " ", "-")) + ".example.com",
			Industry: pick(m, industries), Size: draw(m, sizes),
		})
	}
}

// people makes up n contacts. Four of five work for a company.
func (m *maker) people(n int) {
	for i := range n {
		c := Contact{
			Company: None, At: m.moment(), Stage: draw(m, firstStages), Source: draw(m, sources),
			Attributes: map[string]any{},
		}
		from := draw(m, cultures)
		first, last := split(pick(m, from.first)), split(pick(m, from.last))
		c.FirstName, c.LastName, c.Zone = first.shown, last.shown, pick(m, from.zones)
		local := first.plain + "." + last.plain
		if m.chance(80) {
			c.Company = m.employer()
			c.Email = m.address(local, m.Companies[c.Company].Domain)
			c.Title = draw(m, titles)
			c.Attributes["team_size"] = float64(m.between(1, 12) * m.between(1, 20))
		} else {
			c.Email = m.address(local, "example.org")
		}
		if m.chance(60) {
			c.Phone = fmt.Sprintf("%s 555 %04d", from.dial, m.IntN(10000))
		}
		if m.chance(55) {
			c.Attributes["product"] = pick(m, products)
		}
		if m.chance(30) {
			c.Attributes["newsletter"] = m.chance(70)
		}
		c.Tags = m.tags(c.Title)
		m.Contacts = append(m.Contacts, c)
		m.join(&m.Contacts[i])
		m.act(Action{At: c.At, Kind: CreateContact, Of: i})
		m.nurture(i)
	}
	for i := range m.Companies {
		if c := &m.Companies[i]; !c.At.IsZero() {
			m.act(Action{At: c.At, Kind: CreateCompany, Of: i})
		}
	}
}

// employer returns a company; a few of them employ many of the contacts.
func (m *maker) employer() int {
	return min(m.IntN(len(m.Companies)), m.IntN(len(m.Companies)))
}

// join makes the contact's company no younger than the contact.
func (m *maker) join(c *Contact) {
	if c.Company == None {
		return
	}
	if of := &m.Companies[c.Company]; of.At.IsZero() || of.At.After(c.At) {
		of.At = c.At.Add(-time.Second)
	}
}

// address returns an address that no other contact has.
func (m *maker) address(local, domain string) string {
	address := local + "@" + domain
	for n := 2; m.used[address]; n++ {
		address = fmt.Sprintf("%s%d@%s", local, n, domain)
	}
	m.used[address] = true
	return address
}

func (m *maker) tags(title string) []string {
	tags := []string{}
	for _, t := range tagShares {
		if m.chance(t.weight) {
			tags = append(tags, t.value)
		}
	}
	if title == "" && m.chance(12) {
		tags = append(tags, "student")
	}
	return tags
}

// nurture moves some contacts forward before anybody sells to them.
func (m *maker) nurture(i int) {
	c := &m.Contacts[i]
	at := c.At
	if c.Stage == "subscriber" && m.chance(35) {
		if at = m.after(at, 2, 30); !m.act(Action{At: at, Kind: MoveContact, Of: i, Stage: "lead", Tag: "webinar"}) {
			return
		}
	}
	if c.Stage != "mql" && m.chance(22) {
		m.act(Action{At: m.after(at, 3, 35), Kind: MoveContact, Of: i, Stage: "mql", Tag: "pricing"})
	}
}

// name is a name as it is shown, and in the letters of an address.
type name struct{ shown, plain string }

// split parses an entry of a list of names: "Zoë" or "花子|hanako".
func split(entry string) name {
	shown, plain, given := strings.Cut(entry, "|")
	if !given {
		plain = plainLetters.Replace(strings.ToLower(shown))
	}
	return name{shown, plain}
}
