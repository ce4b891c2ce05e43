(* The twin as OCaml: natural numbers become machine integers, which have 63 bits, as the kernels' have 64. *)
From mathcomp Require Import all_ssreflect.
From Sfumato Require Import twin.
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt.
Extract Inlined Constant addn => "(+)".
Extract Inlined Constant muln => "( * )".
Extract Inlined Constant leq => "(<=)".
Extract Inlined Constant eqn => "(=)".
Extract Constant subn => "fun m n -> if m > n then m - n else 0".
Extract Constant divn => "fun m d -> if d = 0 then 0 else m / d".
Extraction "twin.ml" cut quasi_candidates refusing_over refusing_under.
