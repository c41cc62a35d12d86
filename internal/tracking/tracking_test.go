package tracking_test

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/tracking"
)

// scripts are what the programs of providers and people do with a mail. Agents and addresses of providers are those
// that they publish; behaviour is as senders have described it.
var scripts = []struct {
	name   string
	script []visit
	want   figures
}{
	{"a person opens the mail and follows a link", []visit{
		{after: 40 * time.Second}, {after: 45 * time.Second, link: 1},
	}, figures{Opens: 1, Clicks: 1}},
	{"a person at a phone reads it twice", []visit{
		{after: time.Minute, agent: iphone}, {after: 30 * time.Minute, agent: iphone},
	}, figures{Opens: 2}},
	{"a person whose mail a clock has marked that was an hour ahead", []visit{
		{after: -50 * time.Minute}, {after: -49 * time.Minute, link: 1},
	}, figures{Opens: 1, Clicks: 1}},
	{"a person reloads at once", []visit{
		{after: time.Minute}, {after: time.Minute + time.Second}, {after: time.Minute + 2*time.Second},
	}, figures{Opens: 1}},
	{"a person follows two links, one after the other", []visit{
		{after: 20 * time.Second}, {after: 25 * time.Second, link: 1}, {after: 28 * time.Second, link: 3},
	}, figures{Opens: 1, Clicks: 2}},
	{"a person follows three links in a minute", []visit{
		{after: 20 * time.Second, link: 1}, {after: 40 * time.Second, link: 2}, {after: 55 * time.Second, link: 3},
	}, figures{Clicks: 3}},
	{"Apple's proxy loads the pictures in advance, and the person follows a link", []visit{
		{after: 3 * time.Second, agent: "Mozilla/5.0", ip: "17.58.101.9"}, {after: time.Hour, link: 2, agent: iphone},
	}, figures{MachineOpens: 1, Clicks: 1}},
	{"Apple's proxy by way of another network", []visit{
		{after: 9 * time.Second, agent: "Mozilla/5.0", ip: "104.28.30.5"},
	}, figures{MachineOpens: 1}},
	{"Gmail's proxy", []visit{{
		after: 30 * time.Second, ip: "66.249.84.3",
		agent: "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
	}}, figures{MachineOpens: 1}},
	{"Yahoo's proxy", []visit{{
		after: 30 * time.Second, ip: "203.0.113.80",
		agent: "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
	}}, figures{MachineOpens: 1}},
	{"Defender follows everything with a browser's name", []visit{
		{after: 4 * time.Second, ip: "52.100.7.1"},
		{after: 5 * time.Second, link: 1, ip: "52.100.7.1"},
		{after: 5 * time.Second, link: 2, ip: "52.100.7.2"},
		{after: 6 * time.Second, link: 3, ip: "52.100.7.2"},
	}, figures{MachineOpens: 1, MachineClicks: 3}},
	{"Defender from an unlisted network, and then the person", []visit{
		{after: 5 * time.Second, link: 1, ip: "198.51.100.9"},
		{after: 6 * time.Second, link: 2, ip: "198.51.100.9"},
		{after: 7 * time.Second, link: 3, ip: "198.51.100.9"},
		{after: 10 * time.Minute, link: 2},
	}, figures{Clicks: 1, MachineClicks: 3}},
	{"Proofpoint asks with HEAD", []visit{
		{after: 8 * time.Second, link: 1, head: true, ip: "198.51.100.20"},
		{after: 9 * time.Second, link: 2, head: true, ip: "198.51.100.20"},
	}, figures{MachineClicks: 2}},
	{
		"Proofpoint from its own network",
		[]visit{{after: 8 * time.Second, link: 1, ip: "67.231.152.4"}},
		figures{MachineClicks: 1},
	},
	{"Mimecast names itself", []visit{
		{after: 8 * time.Second, link: 1, agent: "Mozilla/5.0 (compatible; Mimecast)", ip: "198.51.100.30"},
	}, figures{MachineClicks: 1}},
	{"a scanner at the gateway is quicker than any person", []visit{
		{after: 500 * time.Millisecond}, {after: time.Second, link: 1},
	}, figures{MachineOpens: 1, MachineClicks: 1}},
	{"a crawler follows the link that people do not see", []visit{
		{after: time.Minute, link: 1, ip: "198.51.100.40"},
		{after: time.Minute + 20*time.Second, link: -1, ip: "198.51.100.40"},
	}, figures{MachineClicks: 2}},
	{"a scanner follows a link right before the person's browser does", []visit{
		{after: 2 * time.Minute, link: 1, ip: "198.51.100.50"}, {after: 2*time.Minute + 2*time.Second, link: 1},
	}, figures{Clicks: 1, MachineClicks: 1}},
	{"programs", []visit{
		{after: time.Minute, link: 1, agent: "python-requests/2.32", ip: "198.51.100.60"},
		{after: 2 * time.Minute, link: 2, agent: "curl/8.9.1", ip: "198.51.101.60"},
		{
			after: 3 * time.Minute, link: 3, ip: "198.51.102.60",
			agent: "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		},
	}, figures{MachineClicks: 3}},
	{"a phone whose maker is called Cubot", []visit{{
		after: time.Minute, link: 1,
		agent: "Mozilla/5.0 (Linux; Android 14; CUBOT X90) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36",
	}}, figures{Clicks: 1}},
	{"Apple's proxy long after the delivery", []visit{
		{after: 5 * time.Hour, agent: "Mozilla/5.0", ip: "17.22.245.40"},
	}, figures{MachineOpens: 1}},
	{"Apple's proxy twice, and the person on another device", []visit{
		{after: 4 * time.Second, agent: "Mozilla/5.0", ip: "104.28.45.1"},
		{after: 2 * time.Hour, agent: "Mozilla/5.0", ip: "172.225.9.3"},
		{after: 3 * time.Hour},
	}, figures{Opens: 1, MachineOpens: 2}},
	{"Gmail's proxy from a network of the list, and the person follows a link", []visit{
		{
			after: time.Minute, ip: "74.125.208.9",
			agent: "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
		},
		{after: 70 * time.Second, link: 3},
	}, figures{MachineOpens: 1, Clicks: 1}},
	{
		"Gmail's proxy under the name of a browser",
		[]visit{{after: time.Minute, ip: "66.102.6.7"}},
		figures{MachineOpens: 1},
	},
	{"Gmail's check of links", []visit{
		{after: 20 * time.Second, link: 1, agent: "Mozilla/5.0 (compatible; Google-Safety)", ip: "66.249.84.9"},
	}, figures{MachineClicks: 1}},
	{"Defender with HEAD and then GET", []visit{
		{after: 7 * time.Second, link: 2, head: true, ip: "198.51.100.70"},
		{after: 8 * time.Second, link: 2, ip: "198.51.101.70"},
		{after: time.Hour, link: 2},
	}, figures{MachineClicks: 1, Clicks: 2}},
	{"Defender from a network of its mail service", []visit{
		{after: time.Minute, link: 1, ip: "104.47.12.9"}, {after: 2 * time.Minute, link: 2, ip: "40.107.3.3"},
	}, figures{MachineClicks: 2}},
	{"Office looks whether a link exists", []visit{
		{after: time.Minute, link: 1, agent: "Microsoft Office Existence Discovery", ip: "198.51.100.80"},
	}, figures{MachineClicks: 1}},
	{"Proofpoint opens all links from one address", []visit{
		{after: 20 * time.Second, link: 1, ip: "198.51.100.90"},
		{after: 21 * time.Second, link: 2, ip: "198.51.100.90"},
		{after: 22 * time.Second, link: 3, ip: "198.51.100.90"},
	}, figures{MachineClicks: 3}},
	{"Proofpoint rewrites a link, and checks it when the person follows it", []visit{
		{after: time.Hour, link: 1, ip: "148.163.130.5"}, {after: time.Hour + time.Second, link: 1},
	}, figures{MachineClicks: 1, Clicks: 1}},
	{"Mimecast from its network", []visit{
		{after: 12 * time.Second, link: 1, ip: "205.139.110.61"}, {after: 13 * time.Second, ip: "207.211.30.44"},
	}, figures{MachineClicks: 1, MachineOpens: 1}},
	{"Mimecast at once, and the person in the evening", []visit{
		{after: time.Second, link: 1, ip: "198.51.100.95"},
		{after: 8 * time.Hour},
		{after: 8*time.Hour + time.Minute, link: 1},
	}, figures{MachineClicks: 1, Opens: 1, Clicks: 1}},
	{"Barracuda names itself", []visit{
		{after: 9 * time.Second, link: 3, agent: "Mozilla/5.0 BarracudaCentral/1.0", ip: "198.51.100.96"},
	}, figures{MachineClicks: 1}},
	{"a messenger shows a preview", []visit{
		{after: time.Hour, link: 1, agent: "WhatsApp/2.23.20.0", ip: "198.51.100.97"},
		{after: 2 * time.Hour, link: 1, agent: "facebookexternalhit/1.1", ip: "198.51.102.97"},
	}, figures{MachineClicks: 2}},
	{
		"a program without a name",
		[]visit{{after: time.Hour, link: 1, agent: "-", ip: "198.51.100.98"}},
		figures{MachineClicks: 1},
	},
	{"a headless browser", []visit{{
		after: time.Hour, link: 2, ip: "198.51.100.99",
		agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/130.0 Safari/537.36",
	}}, figures{MachineClicks: 1}},
	{"a person at a phone follows a link", []visit{
		{after: 3 * time.Minute, agent: iphone}, {after: 3*time.Minute + 8*time.Second, link: 2, agent: iphone},
	}, figures{Opens: 1, Clicks: 1}},
	{"a person comes back the next day from another network", []visit{
		{after: time.Hour, link: 1}, {after: 26 * time.Hour, link: 1, ip: "203.0.114.20"},
	}, figures{Clicks: 2}},
	{"two people in one office follow two links", []visit{
		{after: 2 * time.Minute, link: 1}, {after: 2*time.Minute + 30*time.Second, link: 2},
	}, figures{Clicks: 2}},
	{"a forwarded mail is read by two people", []visit{
		{after: time.Hour, link: 1}, {after: time.Hour + 40*time.Second, link: 1, ip: "203.0.115.9"},
	}, figures{Clicks: 2}},
	{"a person with an IPv6 address", []visit{
		{after: time.Hour, ip: "2001:db8:1::9"}, {after: time.Hour + 9*time.Second, link: 3, ip: "2001:db8:1::9"},
	}, figures{Opens: 1, Clicks: 1}},
	{"Thunderbird and Apple Mail without a proxy", []visit{
		{after: time.Minute, agent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0"},
		{after: time.Hour, ip: "203.0.116.1", agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X) AppleWebKit/605.1.15"},
	}, figures{Opens: 2}},
	{"Outlook's window on the desktop", []visit{{
		after: time.Minute,
		agent: "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; ms-office; MSOffice 16)",
	}}, figures{Opens: 1}},
}

func TestPeopleAndMachinesAreToldApart(t *testing.T) {
	t.Parallel()
	s := open(t)
	mails := make([]sent, len(scripts))
	for i, sc := range scripts {
		mails[i] = s.send()
		s.play(mails[i], sc.script)
	}
	s.judge()
	right, all := 0, 0
	for i, sc := range scripts {
		all++
		if got := s.figures(mails[i].id); got != sc.want {
			t.Errorf("%s: %+v, want %+v", sc.name, got, sc.want)
			continue
		}
		right++
	}
	if t.Logf("%d of %d scripts", right, all); right*100 < all*98 {
		t.Errorf("%d of %d scripts have the right verdict, want 98 %%", right, all)
	}
}

func TestEachHitIsCountedAndAnnouncedOnce(t *testing.T) {
	t.Parallel()
	s := open(t)
	m := s.send()
	s.play(m, []visit{{after: time.Minute}, {after: 2 * time.Minute, link: 2}, {after: 2 * time.Minute, link: -1}})
	s.judge()
	s.judge()
	if got := s.figures(m.id); got != (figures{Opens: 1, MachineClicks: 2}) {
		t.Errorf("%+v", got)
	}
	var got string
	s.scan(&got, `SELECT string_agg(type || ' ' || (data ->> 'machine') || ' ' || coalesce(data ->> 'url', '-') || ' '
		|| (data ->> 'why'), ', ' ORDER BY type) FROM (SELECT type, data -> 'object' AS data FROM event
		WHERE type IN ('email.opened', 'email.clicked')) e`)
	if want := `email.clicked true https://shop.example/2 ["hidden_link"], email.opened false - []`; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	var facts, left int
	s.scan(&facts, `SELECT count(*) FROM email_fact WHERE contact_id IS NOT NULL`)
	s.scan(&left, `SELECT count(*) FROM email_hit`)
	if facts != 3 || left != 0 {
		t.Errorf("%d facts, want 3; %d hits are left", facts, left)
	}
}

func TestAHitWaitsTenSecondsAndItsOrgIsFound(t *testing.T) {
	t.Parallel()
	s := open(t)
	m := s.send()
	s.play(m, []visit{{after: time.Minute}}) // now
	waiting := func() int {
		t.Helper()
		found, err := tracking.Waiting(t.Context(), s.System, "tracking.judge")
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	s.exec(`UPDATE email_hit SET at = now() - interval '8 seconds'`)
	if n := waiting(); n != 0 {
		t.Errorf("%d orgs after 8 s", n)
	}
	s.exec(`UPDATE email_hit SET at = now() - interval '11 seconds'`)
	if n := waiting(); n != 1 {
		t.Errorf("%d orgs after 11 s, want 1", n)
	}
	s.judge()
	if n := waiting(); n != 0 {
		t.Errorf("%d orgs when all is judged", n)
	}
}

func TestAFloodOnOneMailIsCountedToAThousand(t *testing.T) {
	t.Parallel()
	s := open(t)
	m := s.send()
	s.exec(`UPDATE email SET machine_opens = 998 WHERE id = $1`, m.id)
	var script []visit
	for i := range 5 {
		script = append(script, visit{after: time.Minute, ip: fmt.Sprintf("203.0.%d.1", i)})
	}
	s.play(m, script)
	s.judge()
	if got := s.figures(m.id); got.Opens+got.MachineOpens != 1000 {
		t.Errorf("%+v, want 1000 in all", got)
	}
}

func TestHitsOfManyAtOnceAreAllStored(t *testing.T) {
	t.Parallel()
	s := open(t)
	m := s.send()
	const visitors, each = 32, 20
	var wg sync.WaitGroup
	for v := range visitors {
		wg.Go(func() {
			for i := range each {
				url, err := s.recorder.Click(t.Context(), m.links[i%3], &tracking.Visit{
					Agent: firefox, IP: netip.AddrFrom4([4]byte{203, 0, byte(v), byte(i)}),
				})
				if err != nil || url != fmt.Sprintf("https://shop.example/%d", i%3+1) {
					t.Errorf("%s, %v", url, err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	s.scan(&n, `SELECT count(*) FROM email_hit`)
	if n != visitors*each {
		t.Errorf("%d hits, want %d", n, visitors*each)
	}
}

func TestWithoutTheDatabaseALinkLeadsToItsTargetOrNowhere(t *testing.T) {
	t.Parallel()
	s := open(t)
	m := s.send()
	visitor := &tracking.Visit{Agent: firefox, IP: netip.MustParseAddr("203.0.113.7")}
	if _, err := s.recorder.Click(t.Context(), m.links[0], visitor); err != nil {
		t.Fatal(err)
	}
	s.App.Close()
	s.System.Close()
	if url, err := s.recorder.Click(t.Context(), m.links[0], visitor); err != nil || url != "https://shop.example/1" {
		t.Errorf("a known link: %q, %v", url, err)
	}
	url, err := s.recorder.Click(t.Context(), m.links[1], visitor)
	if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Code != fault.Unavailable || url != "" {
		t.Errorf("an unknown link: %q, %v", url, err)
	}
}

func TestAPurgeLeavesNoLinkAndNoContact(t *testing.T) {
	t.Parallel()
	s := open(t)
	m := s.send()
	s.play(m, []visit{{after: time.Minute}})
	s.judge()
	s.play(m, []visit{{after: 5 * time.Minute, link: 1}})
	var contact id.ID
	s.scan(&contact, `SELECT contact_id FROM email WHERE id = $1`, m.id)
	if err := s.App.Tx(t.Context(), s.org, func(tx *postgres.Tx) error {
		tracking.Erase(tx, contact)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"email_link", "email_hit", "email_fact WHERE contact_id IS NOT NULL"} {
		var n int
		if s.scan(&n, `SELECT count(*) FROM `+table); n != 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	fresh := tracking.NewRecorder(s.App, s.System, s.box)
	if url, err := fresh.Click(t.Context(), m.links[0], &tracking.Visit{Agent: firefox}); url != "" || err != nil {
		t.Errorf("a purged link leads to %q, %v", url, err)
	}
}
