(* The coins of a test: s + 1 of them, and how little the chance of a refusal moves when two people exchange their values.
   docs/guarantees.md, "Why soft cuts hold against the engineer", step 4 and the last case of the Lemma. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Coins.
Variables (R : realFieldType) (q : R).
Hypothesis q01 : 0 <= q <= 1.

(* The chance of a refusal: 1 where slack s is negative, else that s + 1 coins all say "refuse". *)
Definition refusal (s : int) : R := if s is Posz n then q ^+ n.+1 else 1.

(* n coins, each of which says "refuse" (true) with chance q. *)
Definition toss (n : nat) (coins : {ffun 'I_n -> bool}) : R := \prod_i (if coins i then q else 1 - q).

Lemma all_refuse n : \sum_(coins : {ffun 'I_n -> bool} | [forall i, coins i]) toss coins = q ^+ n.
Proof.
rewrite (big_pred1 [ffun=> true]) => [|coins].
  by rewrite /toss (eq_bigr (fun=> q)) ?prodr_const ?card_ord // => i _; rewrite ffunE.
apply/forallP/eqP => [all_true|-> i]; last by rewrite ffunE.
by apply/ffunP=> i; rewrite ffunE all_true.
Qed.

Lemma refusal_ge0 s : 0 <= refusal s.
Proof. by case/andP: q01 => q0 _; case: s => n /=; rewrite ?exprn_ge0 ?ler01. Qed.

Lemma refusal_le1 s : refusal s <= 1.
Proof. by case/andP: q01 => q0 q1; case: s => n /=; rewrite ?exprn_ile1. Qed.

(* min(1, q^(s+1)) changes at most by the factor q if s moves by at most one. *)
Theorem refusal_moves (s s' : int) : `|s - s'| <= 1 -> q * refusal s <= refusal s'.
Proof.
case/andP: q01 => q0 q1; case: s s' => [n|n] [n'|n'] /= close.
- by rewrite -exprS; apply: ler_wiexpn2l => //; lia.
- by rewrite -exprS exprn_ile1.
- by rewrite mulr1 (_ : n' = 0%N) ?expr1 //; lia.
- by rewrite mulr1.
Qed.

End Coins.

(* The least of finitely many numbers moves by at most one if each of them does. *)
Lemma min_moves (I : Type) (r : seq I) (P : pred I) (f g : I -> int) (top : int) :
  (forall i, P i -> `|f i - g i| <= 1) ->
  `|\big[Order.min/top]_(i <- r | P i) f i - \big[Order.min/top]_(i <- r | P i) g i| <= 1.
Proof.
move=> close; apply: (big_ind2 (fun a b : int => `|a - b| <= 1)) => //; first by rewrite subrr normr0.
by move=> a b c d; lia.
Qed.

Lemma min_le (I : eqType) (r : seq I) (P : pred I) (f : I -> int) (top : int) i :
  i \in r -> P i -> \big[Order.min/top]_(j <- r | P j) f j <= f i.
Proof.
elim: r => //= j r IH; rewrite inE big_cons => /orP[/eqP<- ->|/IH le Pi]; first by rewrite le_minl lexx.
by case: ifP => _; rewrite ?le_minl le ?orbT.
Qed.
