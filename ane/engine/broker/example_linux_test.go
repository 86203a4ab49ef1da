//go:build !macrules

package broker_test

import (
	"context"
	"fmt"
	"log"
	"testing"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.NeedsProcesses()
	leaktest.Main(m)
}

func ExampleServeChild() {
	broker.ServeChild() // first in main
	d, err := engine.Open(context.Background(), engine.Broker)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Info().Name)
	if err := d.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: broker
}
