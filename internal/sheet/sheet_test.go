package sheet_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/sheet"
)

func TestACellThatBeginsLikeAFormulaGetsAnApostropheUnlessItIsANumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+x": "'+x", "-2+3": "'-2+3", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"＝1+1": "'＝1+1", "＋1": "'＋1", "－1": "'－1", "＠x": "'＠x",
		"-5": "-5", "+1.5": "+1.5", "+44 (20) 7946 0000": "+44 (20) 7946 0000",
		"+44-20-7946": "+44-20-7946", "-1e5": "'-1e5", "-1/2": "-1/2", "=5": "'=5", "+": "'+", "-": "-",
		"+ 5": "+ 5",
		"":    "", "a=1": "a=1", " =1": " =1", "'": "'", "'a": "'a", "'=1": "''=1", "''-2+3": "'''-2+3", "'-5": "'-5",
		"'+4-9": "''+4-9",
		"'＝1":   "''＝1",
	} {
		if got := sheet.Cell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if back := sheet.Text(want); back != text {
			t.Errorf("%q is read as %q, want %q", want, back, text)
		}
	}
}

// The rule in the product's documentation, implemented independently of the code.
var (
	begins = regexp.MustCompile("^[=+\\-@\t\r＝＋－＠]")
	spared = regexp.MustCompile(`^[+-]?[0-9 ()./-]+$`)
)

// former matches the phone numbers that files of former versions have behind an apostrophe.
var former = regexp.MustCompile(`^-$|^[+-][0-9 ()./-]*[/-][0-9 ()./-]*$`)

func TestNoCellIsAFormulaAndEveryCellIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	signs := []string{
		"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'", "'", "\"", ",", ";", " ", "(",
		")", ".", "0", "9", "a", "ä", "’", "＇",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		var b strings.Builder
		for range r.IntN(7) {
			b.WriteString(signs[r.IntN(len(signs))])
		}
		text := b.String()
		cell := sheet.Cell(text)
		if begins.MatchString(cell) && !spared.MatchString(cell) {
			t.Fatalf("%q is written as the formula %q", text, cell)
		}
		if back := sheet.Text(cell); back != text {
			t.Fatalf("%q is written as %q and read as %q", text, cell, back)
		}
		if plain := !begins.MatchString(strings.TrimLeft(text, "'")); plain &&
			(cell != text || sheet.Text(text) != text) {
			t.Fatalf("%q is changed without need: %q, %q", text, cell, sheet.Text(text))
		}
		if own := sheet.Text(text); own != text && sheet.Cell(own) != text &&
			!former.MatchString(own) {
			t.Fatalf("%q lost an apostrophe that no export put there", text)
		}
	}
}

func TestEachCellOfARecordIsWrittenByTheRule(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := sheet.NewWriter(&out)
	for _, line := range [][]string{{"a", "=b"}, {"-2+3", "c, d"}} {
		if err := w.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a,'=b\n'-2+3,\"c, d\"\n", out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
