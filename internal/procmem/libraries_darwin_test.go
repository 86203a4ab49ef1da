package procmem_test

import "testing"

func libraries(*testing.T) {}
