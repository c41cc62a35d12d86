package imports

import (
	"testing"

	"github.com/funnelwork/funnelwork/internal/contacts"
)

func TestAColumnOfNumbersIsWrittenBackAsItCame(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]contacts.Type{
		"7": contacts.Number, "-1.5": contacts.Number, "0": contacts.Number, "9007199254740992": contacts.Number,
		"007": contacts.String, "1.50": contacts.String, "1e5": contacts.String, "9007199254740993": contacts.String,
		"-0": contacts.String, "+7": contacts.String, ".5": contacts.String, "1,5": contacts.String,
		"\u00a07": contacts.String,
		"0x10":    contacts.String, "Inf": contacts.String, "1_000": contacts.String, "true": contacts.Boolean,
		"TRUE": contacts.String, "yes": contacts.String, "2024-01-31": contacts.Date, "31.1.2024": contacts.String,
	} {
		var g guessed
		g.see(cell)
		if got := g.fits(); got != want {
			t.Errorf("%q is %s, want %s", cell, got, want)
		}
	}
}

func TestDatesAndNumbersAreReadAsTheLocaleWritesThem(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ locale, cell, want string }{
		{"", "2024-01-31 10:00", "2024-01-31T10:00:00Z"},
		{"", "31.01.2024", "2024-01-31T00:00:00Z"},
		{"", "31/01/2024", "2024-01-31T00:00:00Z"},
		{"", "1/31/2024 3:04 PM", "2024-01-31T15:04:00Z"},
		{"", "02/03/2024", ""},
		{"en-US", "02/03/2024", "2024-02-03T00:00:00Z"},
		{"en-GB", "02/03/2024", "2024-03-02T00:00:00Z"},
		{"fr", "02/03/24", "2024-03-02T00:00:00Z"},
		{"de", "2.3.2024", "2024-03-02T00:00:00Z"},
		{"", "25 Jan 2024", "2024-01-25T00:00:00Z"},
		{"", "Jan 25, 2024", "2024-01-25T00:00:00Z"},
		{"", "2024-01-31T10:00:00+02:00", "2024-01-31T10:00:00+02:00"},
		{"", "31/31/2024", ""},
		{"", "soon", ""},
	} {
		l, err := localeOf(x.locale)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := momentOf(x.cell, l.dates); got != x.want {
			t.Errorf("%s %q is %q, want %q", x.locale, x.cell, got, x.want)
		}
	}
	for _, x := range []struct {
		locale, cell string
		want         float64
		ok           bool
	}{
		{"de", "1.234,5", 1234.5, true},
		{"de", "1.234", 1234, true},
		{"en", "1,234.5", 1234.5, true},
		{"fr", "1\u202f234,5", 1234.5, true},
		{"", "1,234.5", 1234.5, true},
		{"", "1.234,5", 1234.5, true},
		{"", "1,5", 0, false},
		{"", "-7.25", -7.25, true},
		{"de", "12.34,5", 0, false},
		{"", "many", 0, false},
	} {
		l, err := localeOf(x.locale)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := number(x.cell, l.decimal); got != x.want || ok != x.ok {
			t.Errorf("%s %q is %v %v, want %v %v", x.locale, x.cell, got, ok, x.want, x.ok)
		}
	}
}

func TestCountriesStagesAndNamesAreUnderstood(t *testing.T) {
	t.Parallel()
	all := countries()
	for name, want := range map[string]string{
		"Deutschland": "DE", "Allemagne": "DE", "Alemania": "DE", "DEU": "DE", "USA": "US", "États-Unis": "US",
		"Österreich": "AT", "Paesi Bassi": "NL", "Nederland": "NL", "Brasil": "BR", "united kingdom": "GB",
	} {
		if got := all[plain(name)]; got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	stages := []string{"lead", "mql", "Closed Won"}
	for cell, want := range map[string]string{
		"LEAD": "lead", "Marketing Qualified Lead": "mql", "closed_won": "Closed Won", "other": "other",
	} {
		if got := stageOf(cell, stages); got != want {
			t.Errorf("%s is %q, want %s", cell, got, want)
		}
	}
	for name, want := range map[string][2]string{
		"Ada Lovelace": {"Ada", "Lovelace"}, "Lovelace, Ada": {"Ada", "Lovelace"}, "Ada": {"Ada", ""},
		"Ludwig van Beethoven": {"Ludwig", "van Beethoven"}, "Ana de la Cruz": {"Ana", "de la Cruz"},
	} {
		if first, last := splitName(name); first != want[0] || last != want[1] {
			t.Errorf("%s is %q and %q", name, first, last)
		}
	}
}
