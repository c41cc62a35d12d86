package plan

import (
	"fmt"
	"strings"
	"time"
)

// makeCompanies makes up n companies with different names. Each is created with its first contact.
func (m *maker) makeCompanies(n int) {
	for _, i := range m.Perm(len(firstWords) * len(secondWords))[:n] {
		name := firstWords[i%len(firstWords)] + " " + secondWords[i/len(firstWords)]
		m.Companies = append(m.Companies, Company{
			Name: name, Domain: strings.ToLower(strings.ReplaceAll(name, " ", "-")) + ".example.com",
			Industry: pickOne(m, industries), Size: drawWeighted(m, sizes),
		})
	}
}

// makeContacts makes up n contacts. Four of five work for a company.
func (m *maker) makeContacts(n int) {
	for i := range n {
		c := Contact{
			Company: None, At: m.drawMoment(), Stage: drawWeighted(m, firstStages), Source: drawWeighted(m, sources),
			Attributes: map[string]any{},
		}
		from := drawWeighted(m, cultures)
		first := parseName(pickOne(m, from.first))
		last := parseName(pickOne(m, from.last))
		c.FirstName, c.LastName, c.Zone = first.shown, last.shown, pickOne(m, from.zones)
		local := first.plain + "." + last.plain
		if m.chance(80) {
			c.Company = m.drawEmployer()
			c.Email = m.uniqueAddress(local, m.Companies[c.Company].Domain)
			c.Title = drawWeighted(m, titles)
			c.Attributes["team_size"] = float64(m.between(1, 12) * m.between(1, 20))
		} else {
			c.Email = m.uniqueAddress(local, "example.org")
		}

		if m.chance(60) {
			c.Phone = fmt.Sprintf("%s 555 %04d", from.dial, m.IntN(10000))
		}
		if m.chance(55) {
			c.Attributes["product"] = pickOne(m, products)
		}
		if m.chance(30) {
			c.Attributes["newsletter"] = m.chance(70)
		}

		c.Tags = m.drawTags(c.Title)
		m.Contacts = append(m.Contacts, c)
		m.backdateCompany(&m.Contacts[i])
		m.addAction(Action{At: c.At, Kind: CreateContact, Of: i})
		m.nurtureContact(i)
	}

	for i := range m.Companies {
		if c := &m.Companies[i]; !c.At.IsZero() {
			m.addAction(Action{At: c.At, Kind: CreateCompany, Of: i})
		}
	}
}

// drawEmployer returns a company; a few of them employ many of the contacts.
func (m *maker) drawEmployer() int {
	return min(m.IntN(len(m.Companies)), m.IntN(len(m.Companies)))
}

// backdateCompany makes the contact's company no younger than the contact.
func (m *maker) backdateCompany(c *Contact) {
	if c.Company == None {
		return
	}
	if of := &m.Companies[c.Company]; of.At.IsZero() || of.At.After(c.At) {
		of.At = c.At.Add(-time.Second)
	}
}

// uniqueAddress returns an address that no other contact has.
func (m *maker) uniqueAddress(local, domain string) string {
	address := local + "@" + domain
	for n := 2; m.used[address]; n++ {
		address = fmt.Sprintf("%s%d@%s", local, n, domain)
	}
	m.used[address] = true
	return address
}

func (m *maker) drawTags(title string) []string {
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

// nurtureContact moves some contacts forward before anybody sells to them.
func (m *maker) nurtureContact(i int) {
	c := &m.Contacts[i]
	at := c.At
	if c.Stage == "subscriber" && m.chance(35) {
		at = m.workdayAfter(at, 2, 30)
		if !m.addAction(Action{At: at, Kind: MoveContact, Of: i, Stage: "lead", Tag: "webinar"}) {
			return
		}
	}
	if c.Stage != "mql" && m.chance(22) {
		m.addAction(Action{At: m.workdayAfter(at, 3, 35), Kind: MoveContact, Of: i, Stage: "mql", Tag: "pricing"})
	}
}

// name is a name as it is shown, and in the letters of an address.
type name struct{ shown, plain string }

// parseName parses an entry of a list of names: "Zoë" or "花子|hanako".
func parseName(entry string) name {
	shown, plain, given := strings.Cut(entry, "|")
	if !given {
		plain = plainLetters.Replace(strings.ToLower(shown))
	}
	return name{shown, plain}
}
