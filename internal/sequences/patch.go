package sequences

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/filter"
	"github.com/funnelwork/funnelwork/internal/form"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outreach/schedule"
	"github.com/funnelwork/funnelwork/internal/sequences/steps"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Patch is a merge patch (RFC 7396) of a sequence. It is also the body of a create request.
type Patch struct {
	Name           wire.Field[string]
	MailboxIDs     wire.Field[[]string]
	Rotation       wire.Field[string]
	Schedule       wire.Field[SchedulePatch]
	Goal           wire.Field[map[string]any]
	StopOn         wire.Field[StopOnPatch]
	Exclusive      wire.Field[bool]
	AllowReenroll  wire.Field[bool]
	MaxNewPerDay   wire.Field[int]
	LateAfterHours wire.Field[int]
	EnrollSegment  wire.Field[string]
	Steps          wire.Field[[]steps.Step]
	form.Refused
}

// SchedulePatch is a merge patch of a schedule.
type SchedulePatch struct {
	TimeZone wire.Field[string]
	Days     wire.Field[[]string]
	From     wire.Field[string]
	To       wire.Field[string]
	Holidays wire.Field[[]string]
}

// StopOnPatch is a merge patch of a StopOn.
type StopOnPatch struct {
	Reply, CompanyReply, DealWon wire.Field[bool]
}

// Ground has what depends on what the org keeps elsewhere.
type Ground struct {
	StopOn StopOn // of sequences that do not say otherwise
	// Goal and Condition parse the filters of a goal and of a condition. An invalid filter is a *filter.Error.
	Goal, Condition func(raw []byte) (*filter.Filter, error)
	// Update returns the canonical form of the values that an update sets. path is the JSON pointer to them. Invalid
	// values are a validation fault.
	Update func(path string, set map[string]any) (map[string]any, error)
}

const (
	maxMailboxes = 50
	maxHolidays  = 400
	maxPerDay    = 1_000_000
	maxLate      = 720
)

// draft is a sequence that a patch is applied to.
type draft struct {
	*form.Form
	s    *Sequence
	with *Ground
	code fault.Code // of the fault; "": validation_failed
}

func (d *draft) applyPatch(p *Patch) error {
	d.Required("name", p.Name, &d.s.Name, form.Name)
	d.setMailboxes(p.MailboxIDs)
	d.OneOf("rotation", p.Rotation, &d.s.Rotation, sticky)
	d.setSchedule(p.Schedule)
	if err := d.setGoal(p.Goal); err != nil {
		return err
	}

	d.stopOn(p.StopOn)
	d.setFlag("exclusive", p.Exclusive, &d.s.Exclusive)
	d.setFlag("allow_reenroll", p.AllowReenroll, &d.s.AllowReenroll)
	if p.MaxNewPerDay.Set {
		if d.s.MaxNewPerDay = nil; !p.MaxNewPerDay.Null {
			d.checkRange("max_new_per_day", p.MaxNewPerDay.Value, maxPerDay)
			d.s.MaxNewPerDay = &p.MaxNewPerDay.Value
		}
	}
	if p.LateAfterHours.Set {
		d.s.LateAfterHours = p.LateAfterHours.Value
		d.checkRange("late_after_hours", d.s.LateAfterHours, maxLate)
	}
	d.ID("enroll_segment", p.EnrollSegment, &d.s.EnrollSegment)
	return d.setSteps(p.Steps)
}

func (d *draft) checkRange(field string, n, most int) {
	if n < 1 || n > most {
		d.Wrong(field, "out_of_range", "The value lies between 1 and "+strconv.Itoa(most)+".")
	}
}

func (d *draft) setFlag(field string, in wire.Field[bool], at *bool) {
	if in.Null {
		d.Wrong(field, "not_nullable", "This field cannot be null.")
		return
	}
	in.Apply(at)
}

func (d *draft) setMailboxes(in wire.Field[[]string]) {
	if !in.Set {
		return
	}

	d.s.MailboxIDs = []id.ID{}
	if len(in.Value) > maxMailboxes {
		d.Wrong("mailbox_ids", "too_many", "At most "+strconv.Itoa(maxMailboxes)+" mailboxes are allowed.")
		return
	}

	for n, given := range in.Value {
		i, err := id.Parse(given)
		switch {
		case err != nil:
			d.Wrong("mailbox_ids/"+strconv.Itoa(n), "invalid_uuid", "This is not a UUID.")
		case slices.Contains(d.s.MailboxIDs, i):
			d.Wrong("mailbox_ids/"+strconv.Itoa(n), "duplicate", "This mailbox appears twice.")
		default:
			d.s.MailboxIDs = append(d.s.MailboxIDs, i)
		}
	}
}

func (d *draft) setSchedule(in wire.Field[SchedulePatch]) {
	if !in.Set {
		return
	}
	if in.Null {
		d.s.Schedule = defaultSettings().Schedule
		return
	}

	p, s := &in.Value, &d.s.Schedule
	d.Required("schedule/time_zone", p.TimeZone, &s.TimeZone, form.Name)
	if s.TimeZone != ContactZone && !isZone(s.TimeZone) {
		d.Wrong("schedule/time_zone", "invalid_time_zone", "This is neither contact nor an IANA time zone.")
	}
	d.Required("schedule/from", p.From, &s.From, form.Name)
	d.Required("schedule/to", p.To, &s.To, form.Name)
	from, wrongFrom := schedule.ParseClock(s.From)
	to, wrongTo := schedule.ParseClock(s.To)
	for field, err := range map[string]error{"schedule/from": wrongFrom, "schedule/to": wrongTo} {
		if err != nil {
			d.Wrong(field, "invalid_time", "This is not a time of day such as 09:30.")
		}
	}

	if wrongFrom == nil && wrongTo == nil && from >= to {
		d.Wrong("schedule/to", "out_of_range", "The window closes after it opens.")
	}
	d.setDays(p)
}

func (d *draft) setDays(p *SchedulePatch) {
	if p.Days.Set {
		d.s.Schedule.Days = []string{}
		for _, day := range weekdays[1:] { // from Monday on
			if slices.Contains(p.Days.Value, day) {
				d.s.Schedule.Days = append(d.s.Schedule.Days, day)
			}
		}
		if slices.Contains(p.Days.Value, weekdays[0]) {
			d.s.Schedule.Days = append(d.s.Schedule.Days, weekdays[0])
		}
		for i, day := range p.Days.Value {
			if !slices.Contains(weekdays, day) {
				d.Wrong("schedule/days/"+strconv.Itoa(i), "not_allowed",
					"The value is one of mon, tue, wed, thu, fri, sat, sun.")
			}
		}
		if len(p.Days.Value) == 0 {
			d.Wrong("schedule/days", "required", "There is at least one day.")
		}
	}
	if !p.Holidays.Set {
		return
	}

	d.s.Schedule.Holidays = append([]string{}, p.Holidays.Value...)
	slices.Sort(d.s.Schedule.Holidays)
	d.s.Schedule.Holidays = slices.Compact(d.s.Schedule.Holidays)
	if len(p.Holidays.Value) > maxHolidays {
		d.Wrong("schedule/holidays", "too_many", "At most "+strconv.Itoa(maxHolidays)+" holidays are allowed.")
	}
	for i, day := range p.Holidays.Value {
		if _, err := schedule.ParseDate(day); err != nil {
			d.Wrong("schedule/holidays/"+strconv.Itoa(i), "invalid_date", "This is not a day, YYYY-MM-DD.")
		}
	}
}

func (d *draft) stopOn(in wire.Field[StopOnPatch]) {
	if in.Null {
		d.s.StopOn = d.with.StopOn
	}
	d.setFlag("stop_on/reply", in.Value.Reply, &d.s.StopOn.Reply)
	d.setFlag("stop_on/company_reply", in.Value.CompanyReply, &d.s.StopOn.CompanyReply)
	d.setFlag("stop_on/deal_won", in.Value.DealWon, &d.s.StopOn.DealWon)
}

func (d *draft) setGoal(in wire.Field[map[string]any]) error {
	if !in.Set {
		return nil
	}
	if d.s.Goal = nil; in.Null {
		return nil
	}
	var err error
	d.s.Goal, err = d.canonicalFilter("goal", in.Value, d.with.Goal)
	return err
}

// canonicalFilter returns the canonical form of a filter. An invalid one is recorded.
func (d *draft) canonicalFilter(field string, given map[string]any, parse func([]byte) (*filter.Filter, error),
) (map[string]any, error) {
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("encode filter: %w", err)
	}

	f, err := parse(raw)
	if e, ok := errors.AsType[*filter.Error](err); ok {
		d.Wrong(field+e.Path, e.Code, e.Detail)
		return given, nil
	}
	if err != nil {
		return nil, fmt.Errorf("parse filter: %w", err)
	}

	var out map[string]any
	if err := json.Unmarshal(f.JSON(), &out); err != nil {
		return nil, fmt.Errorf("decode filter: %w", err)
	}

	return out, nil
}

func (d *draft) setSteps(in wire.Field[[]steps.Step]) error {
	if !in.Set {
		return nil
	}

	d.s.Steps = slices.Clone(in.Value)
	if d.s.Steps == nil {
		d.s.Steps = []steps.Step{}
	}
	steps.Complete(d.s.Steps)
	for _, p := range steps.Check(d.s.Steps) {
		pointer := "steps"
		if p.Pointer != "" {
			pointer += "/" + p.Pointer
		}
		d.Wrong(pointer, p.Code, p.Detail)
		switch code := fault.Code(p.Code); code {
		case fault.StepCycle, fault.StepUnknown, fault.OpenNotACondition:
			d.code = code
		default:
		}
	}

	if !d.OK() {
		return nil
	}

	for i := range d.s.Steps {
		if err := d.checkStep(i); err != nil {
			return err
		}
	}

	return nil
}

// checkStep checks what of a step depends on the org, and makes it canonical.
func (d *draft) checkStep(i int) error {
	s, at := &d.s.Steps[i], "steps/"+strconv.Itoa(i)
	var err error
	if c := s.Condition; c != nil {
		if c.Filter, err = d.canonicalFilter(at+"/condition/filter", c.Filter, d.with.Condition); err != nil {
			return err
		}
	}
	if u := s.Update; u != nil && len(u.Set) > 0 {
		set, err := d.with.Update(at+"/update/set/", u.Set)
		if wrong := fault.Of(err); wrong != nil && wrong.Code == fault.ValidationFailed {
			for _, f := range wrong.Fields {
				d.Wrong(f.Pointer[len("#/"):], f.Code, f.Detail)
			}
			return nil
		}
		if err != nil {
			return err
		}
		u.Set = set
	}

	return nil
}

// draftFault returns the fault with what was recorded, or nil.
func (d *draft) draftFault() error {
	err := d.Fault()
	if f := fault.Of(err); f != nil && d.code != "" {
		f.Code = d.code
	}
	return err
}
