package plan

import (
	"strings"
	"time"
)

// activities makes up notes and tasks: some about every deal, and some about contacts without one.
func (m *maker) activities() {
	deals := m.dealsOf()
	for i := range m.Contacts {
		for _, d := range deals[i] {
			at := m.Deals[d].At
			for range m.between(0, 2) {
				at = m.after(at, 1, 9)
				m.note(i, d, at, dealNotes)
			}
			if m.chance(70) {
				m.task(i, d, m.after(m.Deals[d].At, 0, 10), dealTasks)
			}
		}
		if len(deals[i]) > 0 {
			continue
		}
		if m.chance(9) {
			m.note(i, None, m.after(m.Contacts[i].At, 1, 20), contactNotes)
		}
		if m.chance(6) {
			m.task(i, None, m.after(m.Contacts[i].At, 0, 12), contactTasks)
		}
	}
}

func (m *maker) note(contact, deal int, at time.Time, texts []string) {
	n := Note{Body: m.filled(pick(m, texts), contact), Contact: contact, Deal: deal, At: at}
	if m.act(Action{At: at, Kind: WriteNote, Of: len(m.Notes)}) {
		m.Notes = append(m.Notes, n)
	}
}

func (m *maker) task(contact, deal int, at time.Time, titles []string) {
	t := Task{
		Title: m.filled(pick(m, titles), contact), Priority: draw(m, priorities), Contact: contact, Deal: deal, At: at,
		Due: m.after(at, 1, 10),
	}
	if !m.act(Action{At: at, Kind: CreateTask, Of: len(m.Tasks)}) {
		return
	}
	if m.chance(82) { // the others are overdue or not due yet
		m.act(Action{At: m.after(at, 0, 9), Kind: CompleteTask, Of: len(m.Tasks)})
	}
	m.Tasks = append(m.Tasks, t)
}

// filled returns the text with the contact's name and company.
func (m *maker) filled(text string, contact int) string {
	c := &m.Contacts[contact]
	return strings.NewReplacer("{name}", c.FirstName, "{customer}", m.customer(c), "{product}", pick(m, products)).
		Replace(text)
}
