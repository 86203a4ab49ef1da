//go:build !macrules

package broker_test

import (
	"testing"

	private "github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/engine/broker"
)

// The package with ServeChild imports this one, so what calls it is no test inside this package.
func TestMain(m *testing.M) {
	private.ServeChild()
	broker.Main(m)
}
