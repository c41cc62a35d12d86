package plan

import (
	"strings"
	"time"
)

// makeActivities makes up notes and tasks: some about every deal, and some about contacts without one.
func (m *maker) makeActivities() {
	deals := m.dealsOf()
	for i := range m.Contacts {
		for _, d := range deals[i] {
			at := m.Deals[d].At
			for range m.between(0, 2) {
				at = m.workdayAfter(at, 1, 9)
				m.addNote(i, d, at, dealNotes)
			}

			if m.chance(70) {
				m.addTask(i, d, m.workdayAfter(m.Deals[d].At, 0, 10), dealTasks)
			}
		}

		if len(deals[i]) > 0 {
			continue
		}
		if m.chance(9) {
			m.addNote(i, None, m.workdayAfter(m.Contacts[i].At, 1, 20), contactNotes)
		}
		if m.chance(6) {
			m.addTask(i, None, m.workdayAfter(m.Contacts[i].At, 0, 12), contactTasks)
		}
	}
}

func (m *maker) addNote(contact, deal int, at time.Time, texts []string) {
	n := Note{Body: m.fillText(pickOne(m, texts), contact), Contact: contact, Deal: deal, At: at}
	if m.addAction(Action{At: at, Kind: WriteNote, Of: len(m.Notes)}) {
		m.Notes = append(m.Notes, n)
	}
}

func (m *maker) addTask(contact, deal int, at time.Time, titles []string) {
	t := Task{
		Title: m.fillText(pickOne(m, titles), contact), Priority: drawWeighted(m, priorities),
		Contact: contact, Deal: deal, At: at,
		Due: m.workdayAfter(at, 1, 10),
	}
	if !m.addAction(Action{At: at, Kind: CreateTask, Of: len(m.Tasks)}) {
		return
	}
	if m.chance(82) { // the others are overdue or not due yet
		m.addAction(Action{At: m.workdayAfter(at, 0, 9), Kind: CompleteTask, Of: len(m.Tasks)})
	}

	m.Tasks = append(m.Tasks, t)
}

// fillText returns the text with the contact's name and company.
func (m *maker) fillText(text string, contact int) string {
	c := &m.Contacts[contact]
	return strings.NewReplacer("{name}", c.FirstName, "{customer}", m.customerName(c), "{product}",
		pickOne(m, products)).Replace(text)
}
