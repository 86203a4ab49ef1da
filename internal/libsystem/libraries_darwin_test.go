package libsystem_test

import "testing"

func libraries(*testing.T) {}
