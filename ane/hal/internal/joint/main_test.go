package joint_test

import (
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
