package id_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
)

func TestIDsGrowWithTimeAndSurviveTheirText(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	last := id.ID{}
	for range 1000 {
		i := id.New()
		if i.String() <= last.String() {
			t.Fatalf("%v came after %v", i, last)
		}
		last = i
		back, err := id.Parse(i.String())
		if err != nil || back != i {
			t.Fatalf("Parse(%v) = %v, %v", i, back, err)
		}
	}
	if at := last.Time(); at.Before(before) || at.After(time.Now()) {
		t.Errorf("made at %v, outside the test", at)
	}
}

func TestOnlyThe36CharacterFormIsAnID(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "x", "{0190a8b0-0000-7000-8000-000000000000}",
		"urn:uuid:0190a8b0-0000-7000-8000-000000000000", "0190a8b0000070008000000000000000",
		"0190a8b0-0000-7000-8000-00000000000g",
	} {
		if got, err := id.Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v", s, got)
		}
	}
	if i, err := id.Parse("0190A8B0-0000-7000-8000-00000000000F"); err != nil ||
		i.String() != "0190a8b0-0000-7000-8000-00000000000f" {
		t.Errorf("upper case: %v, %v", i, err)
	}
}

func TestAnIDIsAStringInJSON(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   id.ID  `json:"id"`
		None *id.ID `json:"none"`
	}
	in := row{ID: id.New()}
	b, err := json.Marshal(in)
	if err != nil || string(b) != `{"id":"`+in.ID.String()+`","none":null}` {
		t.Fatalf("%s, %v", b, err)
	}
	var out row
	if err := json.Unmarshal(b, &out); err != nil || out != in {
		t.Errorf("%v, %v", out, err)
	}
}

func TestTheFloorOfAMomentPartsWhatCameBeforeFromWhatCameAfter(t *testing.T) {
	t.Parallel()
	i := id.New()
	at := i.Time()
	floor, next := id.Floor(at), id.Floor(at.Add(time.Millisecond))
	if floor.String() > i.String() || next.String() <= i.String() {
		t.Errorf("%v is not from %v on and before %v", i, floor, next)
	}
	if !floor.Time().Equal(at) {
		t.Errorf("the floor %v is of %v, want %v", floor, floor.Time(), at)
	}
	if early, late := id.Floor(time.Time{}), id.Floor(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)); !early.IsZero() ||
		late.String()[:13] != "ffffffff-ffff" {
		t.Errorf("the ends of time: %v, %v", early, late)
	}
}
