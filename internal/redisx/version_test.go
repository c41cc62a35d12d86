package redisx

import "testing"

func TestTheOldestVersionIsSixTwo(t *testing.T) {
	t.Parallel()
	for version, old := range map[string]bool{
		"5.0.14": true, "6.0.16": true, "6.1.240": true, "6.2.0": false, "7.0.15": false, "10.0": false,
		"": false, "unstable": false,
	} {
		if isOld(version) != old {
			t.Errorf("isOld(%q) = %v", version, !old)
		}
	}
}
