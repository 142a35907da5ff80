package remote_test

import (
	"regexp"
	"testing"
)

func matches(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
		t.Errorf("error %v, want %s", err, want)
	}
}
