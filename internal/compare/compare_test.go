package compare_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/compare"
)

func TestTextsThatAreOne(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"VIP", "vip", " Vip ", "v\u200bip", "\ufeffVIP", "VI\u00adP", "vip\u2060"},
		{"Straße", "STRASSE", "strasse", "straẞe"},
		{"ΣΊΣΥΦΟΣ", "σίσυφος", "Σίσυφοσ"},
		{"Zoë", "zoe\u0308", "ZOË"},
		{"Team  size", "team size", "Team\u00a0size", "team\u3000size", "\tTeam\nsize\r\n"},
		{"ﬁrst", "first", "FIRST"},
		{"Ꮿᏸ", "Ꮿᏸ"},
		{"❤\ufe0f", "❤"},
		{"ẛ̣", "\u1e69"},
		{"한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"},
		{"", " ", "\u200b", "\u00a0\u2003", "\u061c"},
	} {
		for _, s := range same[1:] {
			if !compare.Equal(same[0], s) {
				t.Errorf("%+q is %+q, and %+q is %+q", same[0], compare.Text(same[0]), s, compare.Text(s))
			}
		}
	}
	for _, apart := range [][2]string{
		{"jose", "josé"}, {"a b", "ab"}, {"i", "ı"}, {"１", "1"}, {"a-b", "a b"}, {"C", "C++"}, {"o", "0"},
	} {
		if compare.Equal(apart[0], apart[1]) {
			t.Errorf("%q equals %q", apart[0], apart[1])
		}
	}
}

func TestAddressesThatAreOne(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{
			"info@bücher.example", "INFO@BÜCHER.example", "info@xn--bcher-kva.example", "Info@XN--BCHER-KVA.EXAMPLE.",
			"info@bu\u0308cher.example", " info@bücher。example ",
		},
		{"dörte@example.com", "DÖRTE@Example.com", "do\u0308rte@example.com"},
		{"a@faß.example", "A@FAß.example", "a@xn--fa-hia.example"},
		{"a_b@x_y.example", "A_B@X_Y.example"},
	} {
		for _, s := range same[1:] {
			if compare.Address(s) != compare.Address(same[0]) {
				t.Errorf("%q is %q, and %q is %q", same[0], compare.Address(same[0]), s, compare.Address(s))
			}
		}
	}
	if got := compare.Address("info@bücher.example"); got != "info@xn--bcher-kva.example" {
		t.Errorf("the domain is %q", got)
	}
	if compare.Address("a@fass.example") == compare.Address("a@faß.example") {
		t.Error("fass.example equals faß.example, which are two names in the DNS")
	}
	whole := compare.Address("info@Bücher.example")
	for _, part := range []string{"@bücher.example", "bücher.ex", "INFO@BÜCHER.exa", "fo@bü\u00adcher.", "info"} {
		if !strings.Contains(whole, compare.AddressPart(part)) {
			t.Errorf("%q lacks %q, which is %q", whole, part, compare.AddressPart(part))
		}
	}
}

func finds(query string, texts ...string) bool {
	indexed := compare.Indexed(texts...)
	for _, w := range compare.Words(query) {
		if !slices.ContainsFunc(indexed, func(has string) bool { return strings.HasPrefix(has, w) }) {
			return false
		}
	}
	return true
}

func TestNamesAreFound(t *testing.T) {
	t.Parallel()
	for _, one := range [][]string{
		{"jose", "José"},
		{"JOSÉ", "Jose"},
		{"ozturk", "Öztürk"},
		{"öztürk", "Ozturk"},
		{"strasse", "Straße"},
		{"soren", "Søren"},
		{"lodz", "Łódź"},
		{"nguyen", "Nguyễn"},
		{"isik", "Işık"},
		{"IŞIK", "ışık"},
		{"ebubekir", "Ebûbekir"},
		{"fedor", "Fëdor"},
		{"федор", "Фёдор"},
		{"αθηνα", "Αθηνά"},
		{"aegir", "Ægir"},
		{"山田", "山田太郎"},
		{"太郎", "山田太郎"},
		{"田太", "山田太郎"},
		{"山田 太郎", "山田太郎"},
		{"山田太郎", "太郎", "山田"},
		{"太郎山田", "太郎", "山田"},
		{"김철수", "철수", "김"},
		{"철수", "김철수"},
		{"วิทยา", "นายวิทยา"},
		{"株式会社", "ABC株式会社"},
		{"abc株", "ABC株式会社"},
		{"jean luc", "Jean-Luc", "Picard"},
		{"ada lov acme", "Ada", "Lovelace", "ada@acme.example"},
		{"דוד", "דָּוִד"},
		{"محمد", "مُحَمَّد"},
		{"データ", "東京データ"},
		{"İstanbul", "istanbul"},
		{"istanbul", "İstanbul"},
	} {
		if !finds(one[0], one[1:]...) {
			t.Errorf("%q does not find %q: %q in %q", one[0], one[1:], compare.Words(one[0]),
				compare.Indexed(one[1:]...))
		}
	}
	for _, one := range [][]string{{"love", "Ada"}, {"郎太", "山田太郎"}, {"dam", "Adam"}} {
		if finds(one[0], one[1:]...) {
			t.Errorf("%q finds %q", one[0], one[1:])
		}
	}
}

func TestWordsAreBounded(t *testing.T) {
	t.Parallel()
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	if n := len(compare.Words(strings.Join(letters, " "))); n != 24 {
		t.Errorf("%d words in a query, want 24", n)
	}
	if n := len(compare.Indexed(strings.Repeat("山田太郎", 3)+strings.Repeat("鈴木一郎佐藤花子", 9), strings.Join(letters,
		" "))); n != 48 {
		t.Errorf("%d words in an index, want 48", n)
	}
	for _, w := range append(compare.Words(strings.Repeat("é", 100)), compare.Indexed(strings.Repeat("田", 100))...) {
		if len(w) > 40 {
			t.Errorf("%q has %d bytes", w, len(w))
		}
	}
}

func TestACutEndsWithAWholeCharacter(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"", "a", "a", "aé", "aé"} {
		if got := compare.Cut("aéé", n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

func TestEveryCharacterFoldsOnce(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		s := "a" + string(r) + "\u0345b"
		if r < 0x3000 || r%61 == 0 {
			checkForms(t, s)
		}
		if folded := compare.Text(s); compare.Text(folded) != folded {
			t.Errorf("%+q folds to %+q, and that to %+q", s, folded, compare.Text(folded))
		}
		if up := strings.ToUpper(string(r)); compare.Text(up) != compare.Text(string(r)) &&
			!strings.ContainsRune("ıĿŉ", r) && strings.ToLower(up) == string(r) {
			t.Errorf("%U is %q and its capital is %q", r, compare.Text(string(r)), compare.Text(up))
		}
	}
}

// checkForms checks the properties of all forms of s.
func checkForms(t *testing.T, s string) {
	t.Helper()
	for name, form := range map[string]func(string) string{
		"Text": compare.Text, "Address": compare.Address, "Domain": compare.Domain,
		"words":   func(s string) string { return strings.Join(compare.Words(s), " ") },
		"indexed": func(s string) string { return strings.Join(compare.Indexed(s), " ") },
	} {
		folded := form(s)
		if again := form(folded); again != folded && name != "indexed" {
			t.Errorf("%s of %+q is %+q, and of that %+q", name, s, folded, again)
		}
		for _, n := range []norm.Form{norm.NFC, norm.NFD} {
			if other := form(n.String(s)); other != folded {
				t.Errorf("%s of %+q is %+q, and of its normal form %+q", name, s, folded, other)
			}
		}
		if !norm.NFC.IsNormalString(folded) && name == "Text" {
			t.Errorf("%s of %+q is %+q, which is not in NFC", name, s, folded)
		}
		if strings.ContainsFunc(folded, compare.Invisible) || strings.TrimSpace(folded) != folded ||
			strings.Contains(folded, "  ") {
			t.Errorf("%s of %+q is %+q", name, s, folded)
		}
	}
}

func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"VIP", " a  b ", "straße", "Zoe\u0308@Bücher.example", "\u0390\u1fd3", "a\u0345\u0301b", "İI\u0307",
		"김 철수", "a@b@c.",
		"xn--a@xn--bcher-kva.xn--a", "\u200b\u0301", "ẛ̣\u0345\u1ff4",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 200 {
			checkForms(t, strings.ToValidUTF8(s, "?"))
		}
	})
}
