package deals

import (
	"strings"
	"testing"
	"time"
)

func TestCurrenciesAreThoseOfToday(t *testing.T) {
	t.Parallel()
	for _, code := range strings.Fields("EUR USD JPY SLE ZWG XCG VED MRU STN BYN CHF KWD XOF SVC") {
		if !isCurrency(code) {
			t.Errorf("%s is refused", code)
		}
	}
	for _, code := range []string{
		"DEM", "HRK", "BGN", "SLL", "ZWL", "ANG", "CUC", "VEF", "MRO", "BYR", "XAU", "XXX", "XTS", "CHE", "USN", "eur",
		"EU", "", " EU", "R E", "EURO",
	} {
		if isCurrency(code) {
			t.Errorf("%q is taken", code)
		}
	}
	if _, err := time.Parse(time.DateOnly, CurrenciesOf); err != nil {
		t.Error(err)
	}
}
