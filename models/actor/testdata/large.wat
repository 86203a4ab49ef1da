;; A guest with 4 MiB that do not compress, and an error: its first token is 0, each further one is made of a word of
;; them and of the text of the error.
(module
  (import "anekit" "vocabulary" (func $vocabulary (result i32)))
  (import "anekit" "program_close" (func $fail (param i32) (result i32)))
  (import "anekit" "error_text" (func $error_text (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (global $at (mut i32) (i32.const 65536))
  (global $end i32 (i32.const 4259840))
  (func $fill (local $p i32) (local $x i64)
    (drop (memory.grow (i32.const 64)))
    (local.set $p (global.get $at))
    (local.set $x (i64.const 88172645463325252))
    (loop $next
      (local.set $x (i64.xor (local.get $x) (i64.shl (local.get $x) (i64.const 13))))
      (local.set $x (i64.xor (local.get $x) (i64.shr_u (local.get $x) (i64.const 7))))
      (local.set $x (i64.xor (local.get $x) (i64.shl (local.get $x) (i64.const 17))))
      (i64.store (local.get $p) (local.get $x))
      (local.set $p (i32.add (local.get $p) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $p) (global.get $end)))))
  (func (export "next") (result i32) (local $n i32)
    (if (i32.eq (global.get $at) (i32.const 65536))
      (then
        (call $fill)
        (drop (call $fail (i32.const 77)))
        (global.set $at (i32.const 65540))
        (return (i32.const 0))))
    (global.set $at (i32.add (global.get $at) (i32.const 600004)))
    (local.set $n (call $error_text (i32.const 16) (i32.const 256)))
    (i32.rem_u
      (i32.add (i32.load (global.get $at)) (i32.add (local.get $n) (i32.load (i32.const 20))))
      (call $vocabulary))))
