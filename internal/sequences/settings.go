package sequences

import (
	"slices"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
)

// Settings is all of a version but its steps.
type Settings struct {
	MailboxIDs     []id.ID        `json:"mailbox_ids" nullable:"false" maxItems:"50"`
	Rotation       string         `json:"rotation" enum:"sticky"`
	Schedule       Schedule       `json:"schedule" doc:"When its mails may be sent"`
	Goal           map[string]any `json:"goal" nullable:"true"`
	StopOn         StopOn         `json:"stop_on" doc:"What ends an enrolment, besides its last step and the goal"`
	Exclusive      bool           `json:"exclusive"`
	AllowReenroll  bool           `json:"allow_reenroll" doc:"Whether a contact may be enrolled again afterwards"`
	MaxNewPerDay   *int           `json:"max_new_per_day"`
	LateAfterHours int            `json:"late_after_hours"`
	EnrollSegment  *id.ID         `json:"enroll_segment" format:"uuid" nullable:"true"`
}

// Descriptions implements wire.Describer.
func (Settings) Descriptions() map[string]string {
	return map[string]string{
		"mailbox_ids":      "Mailboxes that send, shared out evenly among the enrolments",
		"rotation":         "sticky: an enrolment keeps its mailbox, since a thread has one sender",
		"goal":             "Filter on the contact that ends its enrolment once it matches; null: none",
		"exclusive":        "Whether contacts that are in another sequence are left out",
		"max_new_per_day":  "Most enrolments that begin in 24 hours; the others wait. null: no limit",
		"late_after_hours": "A mail that is due for longer is not sent any more; hours, 1 to 720",
		"enroll_segment": "Dynamic segment: contacts that enter it while the sequence is active or paused are " +
			"enrolled; null: none",
	}
}

// StopOn is what ends an enrolment.
type StopOn struct {
	Reply        bool `json:"reply" doc:"A reply of the contact"`
	CompanyReply bool `json:"company_reply" doc:"A reply of another contact of the same company"`
	DealWon      bool `json:"deal_won" doc:"A deal of the contact is won"`
}

// Schedule is the days and the hours at which the mails of a sequence may be sent.
type Schedule struct {
	TimeZone string   `json:"time_zone" doc:"contact: that of each contact, else of the mailbox; or an IANA name"`
	Days     []string `json:"days" nullable:"false" maxItems:"7" enum:"mon,tue,wed,thu,fri,sat,sun"`
	From     string   `json:"from" doc:"Time of day at which the window opens, such as 09:00"`
	To       string   `json:"to" doc:"Time of day at which the window closes, such as 17:00 or 24:00"`
	Holidays []string `json:"holidays" nullable:"false" maxItems:"400" doc:"Days, YYYY-MM-DD, without mails"`
}

// Descriptions implements wire.Describer.
func (Schedule) Descriptions() map[string]string {
	return map[string]string{"days": "Days of the week on which mails are sent"}
}

// ContactZone is the time_zone of a schedule that follows the clock of each contact.
const ContactZone = "contact"

// weekdays has the names of days in schedules, by time.Weekday.
var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Windows returns the schedule in the form that computes windows. s must be valid, as stored ones are.
func (s *Schedule) Windows() *schedule.Schedule {
	out := &schedule.Schedule{Holidays: make(map[schedule.Date]struct{}, len(s.Holidays))}
	out.From, _ = schedule.ParseClock(s.From)
	out.To, _ = schedule.ParseClock(s.To)
	for i, day := range weekdays {
		out.Days[i] = slices.Contains(s.Days, day)
	}
	for _, day := range s.Holidays {
		if d, err := schedule.ParseDate(day); err == nil {
			out.Holidays[d] = struct{}{}
		}
	}
	return out
}

// isZone reports whether name is an IANA time zone.
func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != "" && name != "Local"
}

// defaultSettings returns the settings of a new sequence.
func defaultSettings() Settings {
	return Settings{
		MailboxIDs: []id.ID{}, Rotation: sticky, Exclusive: true, LateAfterHours: 24,
		Schedule: Schedule{
			TimeZone: ContactZone, Days: []string{"mon", "tue", "wed", "thu", "fri"}, From: "09:00", To: "17:00",
			Holidays: []string{},
		},
	}
}

const sticky = "sticky"
