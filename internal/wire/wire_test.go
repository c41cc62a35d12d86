package wire_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/wire"
)

func TestATimeAlwaysHasSixFractionDigitsInUTC(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-11-21T10:00:00Z":                `"2026-11-21T10:00:00.000000Z"`,
		"2026-11-21T10:00:00.5+02:00":         `"2026-11-21T08:00:00.500000Z"`,
		"2026-11-21T10:00:00.123456789Z":      `"2026-11-21T10:00:00.123456Z"`,
		"2026-11-21T23:59:59.999999999-01:00": `"2026-11-22T00:59:59.999999Z"`,
	} {
		var at wire.Time
		if err := json.Unmarshal([]byte(`"`+in+`"`), &at); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(at); err != nil || string(got) != want {
			t.Errorf("%s became %s (%v), want %s", in, got, err, want)
		}
	}
	for _, bad := range []string{`"yesterday"`, `12`, `"2026-13-01T00:00:00Z"`} {
		var at wire.Time
		if err := json.Unmarshal([]byte(bad), &at); err == nil {
			t.Errorf("%s was taken as %v", bad, at)
		}
	}
	if got := wire.At(time.Unix(0, 1999)).Nanosecond(); got != 1000 {
		t.Errorf("cut to %d ns, want 1000", got)
	}
}

func TestAPatchTellsAbsentFromNullFromAValue(t *testing.T) {
	t.Parallel()
	type patch struct {
		Name wire.Field[string] `json:"name"`
		Age  wire.Field[int]    `json:"age"`
	}
	for body, want := range map[string]patch{
		`{}`:                      {},
		`{"name":null}`:           {Name: wire.Field[string]{Set: true, Null: true}},
		`{"name":"","age":3}`:     {Name: wire.Some(""), Age: wire.Some(3)},
		`{"name":"x","age":null}`: {Name: wire.Some("x"), Age: wire.Field[int]{Set: true, Null: true}},
	} {
		var got patch
		if err := json.Unmarshal([]byte(body), &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", body, got, err, want)
		}
	}
	name := "before"
	wire.Field[string]{}.Apply(&name)
	if name != "before" {
		t.Error("an absent member changed the field")
	}
	wire.Field[string]{Set: true, Null: true}.Apply(&name)
	if name != "" {
		t.Error("null did not clear the field")
	}
}

func TestAWholeNumberThatAFloatCannotHoldIsOutOfRange(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]float64{
		"9007199254740991": 1<<53 - 1, "9007199254740992": 1 << 53, "-9007199254740992": -1 << 53,
		"9007199254740992.0": 1 << 53, "9.007199254740992e15": 1 << 53, "1.5": 1.5,
		"9007199254740993": math.Inf(1), "-9007199254740993": math.Inf(1), "9007199254740993.0": math.Inf(1),
		"9007199254740992.5": math.Inf(1), "9.007199254740993e15": math.Inf(1),
	} {
		var f wire.Field[map[string]any]
		if err := json.Unmarshal([]byte(`{"other":"x","number":`+literal+`}`), &f); err != nil {
			t.Errorf("%s: %v", literal, err)
		}
		if got := f.Value["number"]; got != want {
			t.Errorf("%s is %v, want %v", literal, got, want)
		}
	}
}
