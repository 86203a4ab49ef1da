;; A guest that says what random numbers and the two clocks give it.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "anekit" "vocabulary" (func $vocabulary (result i32)))
  (memory (export "memory") 1 1)
  (func (export "next") (result i32)
    (drop (call $random (i32.const 0) (i32.const 3)))
    (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 8)))
    (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 16)))
    (i32.rem_u
      (i32.add (i32.load (i32.const 0)) (i32.wrap_i64 (i64.div_u
        (i64.add (i64.load (i32.const 8)) (i64.mul (i64.const 7) (i64.load (i32.const 16)))) (i64.const 1000000))))
      (call $vocabulary))))
