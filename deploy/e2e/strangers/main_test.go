package strangers_test

import (
	"io"
	"log"
	"os"
	"testing"
)

// TestMain drops what net/http logs of servers that send more than was asked for.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}
