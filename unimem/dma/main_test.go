package dma

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/ringtest"
)

func TestMain(m *testing.M) {
	ringtest.Main()
	leaktest.Main(m)
}
