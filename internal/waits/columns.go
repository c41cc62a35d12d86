package waits

import "strings"

// wait is the rule of a table with columns that say when a row is looked at next.
type wait struct {
	table string
	// late is the condition of rows that wait longer than they may. It is false of all rows that the present clock has
	// stamped. "" if rows do not show it.
	late string
	// back is the condition of rows that may wait too long after the clock was set back. Some of them wait rightly.
	back string
	set  string // what ends the wait
}

// ahead is the condition that a time of the past lies in the future. now() may be a little older than a stamp.
func ahead(column string) string { return "(" + column + " > now() + interval '2 seconds')" }

// past is the assignment of now() to columns that lie ahead of it.
func past(columns ...string) string {
	set := make([]string, len(columns))
	for i, c := range columns {
		set[i] = c + " = CASE WHEN " + c + " > now() THEN now() ELSE " + c + " END"
	}
	return strings.Join(set, ", ")
}

const (
	// soon is a moment in the next minute.
	soon = "now() + random() * interval '1 minute'"
	// inMinutes is a moment in the next five minutes, for look-ups at other servers.
	inMinutes = "now() + random() * interval '5 minutes'"
	// claimed is the longest time for which a grant is claimed. An attempt may be under way for as long, and must not
	// meet another one.
	claimed = "now() + interval '3 minutes'"
)

// columns are in the order in which the statements are executed: enrolments before the groups in which their steps are
// looked for, and the evidence of a clock that was set back last.
var columns = []wait{
	{
		table: "webhook_health",
		late: ahead("opened_at") + " OR " + ahead("failing_since") + " OR " + ahead("streak_from") +
			" OR next_probe_at > now() + interval '24 hours'",
		back: "next_probe_at > now()",
		set:  past("failing_since", "streak_from", "opened_at", "next_probe_at"),
	},
	{
		table: "mailbox", // the times of the last looks; the next ones follow from them
		late: ahead("health_at") + " OR " + ahead("domain_checked_at") +
			" OR next_slot_at > now() + make_interval(secs => gap_max)",
		set: past("health_at", "domain_checked_at") + `, next_slot_at = CASE
			WHEN next_slot_at > now() + make_interval(secs => gap_max) THEN now() ELSE next_slot_at END`,
	},
	{
		table: "mailbox_folder", // a server that has refused a sign-in must not be asked more often
		late: `next_sync_at > now() + CASE WHEN failures = 0 THEN interval '70 seconds'
			WHEN error = 'auth_refused' THEN interval '24 hours' ELSE interval '1 hour' END AND ` + liveMailbox,
		back: "next_sync_at > now() AND error <> 'auth_refused' AND " + liveMailbox,
		set:  "next_sync_at = " + soon,
	},
	{
		table: "mailbox_silence",
		late:  ahead("since") + " OR next_at > now() + interval '1 hour'",
		back:  "next_at > now()",
		set:   past("since", "next_at"),
	},
	{
		table: "domain",
		late: "status <> 'removed' AND (" + ahead("claimed_at") + ` OR next_check_at > now() + interval '5 minutes'
			+ CASE WHEN status IN ('active', 'suspended') THEN interval '6 hours' ELSE interval '1 hour' END)
			AND next_check_at > now() + interval '5 minutes'`,
		set: "next_check_at = " + inMinutes,
	},
	{
		table: "sending_domain",
		late:  "next_check_at > now() + interval '65 minutes'",
		set:   "next_check_at = " + inMinutes,
	},
	{
		table: "enrolment", // conditions that wait are decided every ten minutes; delays of steps stay
		back:  "until_at IS NOT NULL AND state = 'active' AND due_at > now() + interval '10 minutes'",
		set:   "due_at = now()",
	},
	{
		table: "send_group", // a look moves those that must wait
		back:  "wake_at > now() + interval '1 minute'",
		set:   "wake_at = " + soon,
	},
	{
		table: "segment_entry",
		late:  ahead("created_at") + " AND due_at > now() OR due_at > now() + interval '11 minutes'",
		back:  "due_at > now()",
		set:   past("due_at"),
	},
	{
		table: "variant_comparison",
		late:  "check_at > now() + interval '61 minutes'",
		back:  "check_at > now() + interval '1 minute'",
		set:   "check_at = " + soon,
	},
	{
		table: "overview_state", // the next look follows from the times of the last ones
		late: ahead("greatest(counted_at, whole_at, late_at, read_at)") + ` OR due_at > now() + interval '2 minutes'
			OR rest_until > now() + interval '20 minutes' OR look_at > now() + interval '25 hours'`,
		back: "look_at > now() + interval '1 minute'",
		set: past("counted_at", "whole_at", "late_at", "read_at", "due_at", "rest_until") +
			", look_at = least(look_at, " + soon + ")",
	},
	{
		table: "social_grant", // attempt_at is a fence and stays
		late:  liveGrant + " AND (" + ahead("issued_at") + " OR " + ahead("attempt_at") + ")",
		back:  liveGrant + " AND (fail_count > 0 OR attempt_state IS NOT NULL OR refresh_at >= access_expires_at)",
		set:   "refresh_at = " + claimed + ", " + past("issued_at"),
	},
	{
		table: "social_hold",
		late:  ahead("since") + " OR cause = 'misconfigured' AND held_until > now() + interval '6 minutes'",
		back:  "held_until > now()",
		set:   past("held_until", "since"),
	},
	{
		table: "social_budget",
		late:  "next_at > now() + interval '1 minute' OR claim_at > now() + interval '1 minute'",
		set:   past("next_at", "claim_at"),
	},
	{table: "process", late: ahead("seen_at"), set: past("seen_at")},
	{table: "tick", late: ahead("made_at"), set: past("made_at")},
}

const (
	liveMailbox = `EXISTS (SELECT FROM mailbox m WHERE m.org_id = mailbox_folder.org_id
		AND m.id = mailbox_folder.mailbox_id AND m.archived_at IS NULL)`
	liveGrant = "status IN ('active', 'expiring') AND refresh_at > " + claimed
)
