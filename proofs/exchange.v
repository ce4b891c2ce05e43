(* Exchanging two people: why a likelihood that changes little bounds a belief, and one that does not change fixes it.
   docs/guarantees.md, "Why soft cuts hold against the engineer", Theorem; "Sets of values"; "Why safe boxes hold". *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Exchange.
Variables (R : realFieldType) (P V : finType).

(* A world says who has what. *)
Definition world := {ffun P -> V}.
Implicit Types (t u : P) (w : world) (B : {set P}) (S : {set V}) (p : world -> R).

(* The world in which t and u have exchanged their values. *)
Definition exchange (t u : P) (w : world) : world := [ffun p => w (tperm t u p)].

(* How many people of box B have one of S. A single value x is the set [set x]. *)
Definition count (B : {set P}) (S : {set V}) (w : world) : nat := #|[set u in B | w u \in S]|.

(* How likely something is in all worlds together, and in those in which t has one of S; p w is the weight of a world. *)
Definition total (p : world -> R) : R := \sum_(w : world) p w.
Definition has (p : world -> R) (t : P) (S : {set V}) : R := \sum_(w : world | w t \in S) p w.
Definition belief (p : world -> R) (t : P) (S : {set V}) : R := has p t S / total p.

Lemma exchangeK t u : involutive (exchange t u).
Proof. by move=> w; apply/ffunP=> p; rewrite !ffunE tpermK. Qed.

Lemma exchangeC t u w : exchange t u w = exchange u t w.
Proof. by apply/ffunP=> p; rewrite !ffunE tpermC. Qed.

Lemma count_exchange B S t u w : (t \in B) = (u \in B) -> count B S (exchange t u w) = count B S w.
Proof.
move=> same; rewrite /count -(card_imset _ (@perm_inj _ (tperm t u))); congr #|pred_of_set _|.
apply/setP=> p; rewrite -{1}(tpermK t u p) mem_imset ?inE ?ffunE ?tpermK; last exact: perm_inj.
by congr (_ && _); case: tpermP => // ->; rewrite same.
Qed.

Lemma sum_count p B S : \sum_(u in B) has p u S = \sum_(w : world) (count B S w)%:R * p w.
Proof.
rewrite /has (exchange_big_dep xpredT) //=; apply: eq_bigr => w _.
rewrite sumr_const mulr_natl; congr (_ *+ _); rewrite /count; apply: eq_card => u.
by rewrite !inE.
Qed.

(** What an exchange does to counts. *)
Lemma count_setD1 B S w t : t \in B -> count B S w = ((w t \in S) + count (B :\ t) S w)%N.
Proof.
move=> tB; rewrite /count (cardsD1 t) inE tB /=; congr (_ + _)%N.
by apply: eq_card => p; rewrite !inE andbA.
Qed.

Lemma eq_count B S w w' : {in B, w =1 w'} -> count B S w = count B S w'.
Proof. by move=> same; apply: eq_card => p; rewrite !inE; case: (boolP (p \in B)) => //= /same ->. Qed.

Lemma exchange_out B w t u : t \notin B -> u \notin B -> {in B, exchange t u w =1 w}.
Proof.
by move=> tB uB p pB; rewrite ffunE tpermD //; [apply: contraNneq tB => ->|apply: contraNneq uB => ->].
Qed.

Lemma count_moves B S w t u : `|(count B S w)%:Z - (count B S (exchange t u w))%:Z| <= 1.
Proof.
have [same|differ] := eqVneq (t \in B) (u \in B); first by rewrite count_exchange // subrr.
wlog tB : t u differ / t \in B => [claim|].
  by have [tB|uB] : t \in B \/ u \in B by [move: differ; do 2 case: (_ \in B); auto];
    [exact: claim|rewrite exchangeC claim // eq_sym].
have uB : u \notin B by move: differ; rewrite tB; case: (u \in B).
rewrite !(count_setD1 _ _ tB) (@eq_count _ _ (exchange t u w) w); first by lia.
by apply: exchange_out; rewrite !inE ?eqxx // negb_and uB orbT.
Qed.

Section Bound.
Variables (p : world -> R) (B : {set P}) (S : {set V}) (t : P) (c : nat) (T : R).
Hypothesis inB : t \in B.
Hypothesis counted : forall w, p w != 0 -> count B S w = c.
Hypothesis alike : forall u w, u \in B -> u != t -> T * p w <= p (exchange t u w).

(* Exchanging t and u maps the worlds in which t has one of S one-to-one onto those in which u has. *)
Lemma others u : u \in B -> u != t -> T * has p t S <= has p u S.
Proof.
move=> uB ut; rewrite /has mulr_sumr (reindex_inj (inv_inj (exchangeK t u))) /=.
rewrite [X in _ <= X](eq_bigl (fun w : world => exchange t u w t \in S)); last first.
  by move=> w; rewrite !ffunE tpermL.
by apply: ler_sum => w _; rewrite -[X in _ <= p X](exchangeK t u w); exact: alike.
Qed.

Theorem exchange_bound : has p t S * (1 + (#|B|.-1)%:R * T) <= c%:R * total p.
Proof.
have -> : c%:R * total p = \sum_(u in B) has p u S.
  rewrite sum_count /total mulr_sumr; apply: eq_bigr => w _.
  by have [->|/counted->] := eqVneq (p w) 0; rewrite ?mulr0.
rewrite (bigD1 t) //= mulrDr mulr1 ler_add2l.
have -> : has p t S * ((#|B|.-1)%:R * T) = \sum_(u in B | u != t) T * has p t S.
  rewrite sumr_const -[in RHS]mulr_natl mulrCA [T * _]mulrC; congr (_%:R * _).
  by rewrite (cardsD1 t B) inB /=; apply: eq_card => u; rewrite !inE andbC.
by apply: ler_sum => u /andP[uB ut]; exact: others.
Qed.

Corollary belief_bound : 0 <= T -> 0 < total p -> belief p t S <= c%:R / (1 + (#|B|.-1)%:R * T).
Proof.
move=> T0 some; have room : 0 < 1 + (#|B|.-1)%:R * T by apply: ltr_spaddl; rewrite ?ltr01 ?mulr_ge0 ?ler0n.
by rewrite /belief ler_pdivr_mulr // mulrAC ler_pdivl_mulr //; exact: exchange_bound.
Qed.

End Bound.

(** Where every person of B is as t under some change of worlds that changes no weight, the belief is exactly count / size. *)
Lemma has_by_symmetry p B S t c (swap : P -> world -> world) : (forall w, p w != 0 -> count B S w = c) ->
  (forall u, u \in B -> [/\ involutive (swap u), forall w, (swap u w t \in S) = (w u \in S) & forall w, p (swap u w) = p w]) ->
  #|B|%:R * has p t S = c%:R * total p.
Proof.
move=> counted alike; have same u : u \in B -> has p u S = has p t S.
  move=> /alike[swapK moves keeps]; rewrite /has [in RHS](reindex_inj (inv_inj swapK)) /=.
  by apply: eq_big => w; rewrite ?moves ?keeps.
rewrite mulr_natl -sumr_const -(eq_bigr _ same) sum_count /total mulr_sumr; apply: eq_bigr => w _.
by have [->|/counted->] := eqVneq (p w) 0; rewrite ?mulr0.
Qed.

Lemma belief_share p B S t c : t \in B -> 0 < total p -> #|B|%:R * has p t S = c%:R * total p -> belief p t S = c%:R / #|B|%:R.
Proof.
move=> tB some sum; have size : #|B|%:R != 0 :> R by rewrite pnatr_eq0 -lt0n; apply/card_gt0P; exists t.
by apply: (canRL (mulfK size)); rewrite /belief mulrC mulrA sum mulfK // gt_eqF.
Qed.

Theorem belief_by_symmetry p B S t c (swap : P -> world -> world) : t \in B ->
  (forall w, p w != 0 -> count B S w = c) ->
  (forall u, u \in B -> [/\ involutive (swap u), forall w, (swap u w t \in S) = (w u \in S) & forall w, p (swap u w) = p w]) ->
  0 < total p -> belief p t S = c%:R / #|B|%:R.
Proof. by move=> tB counted alike some; apply: belief_share => //; exact: has_by_symmetry alike. Qed.

(** ... in particular where exchanges inside B change nothing. *)
Theorem belief_exact p B S t c : t \in B -> (forall w, p w != 0 -> count B S w = c) ->
  (forall u w, u \in B -> p (exchange t u w) = p w) -> 0 < total p -> belief p t S = c%:R / #|B|%:R.
Proof.
move=> tB counted alike some; apply: (belief_by_symmetry (swap := exchange t) tB counted) => // u uB.
by split=> [|w|w]; [exact: exchangeK|rewrite ffunE tpermL|exact: alike].
Qed.

(** A larger set is believed more, everything with at most 1, and a mixture with at most what each of its parts is. *)
Lemma has_le p S S' t : (forall w, 0 <= p w) -> S \subset S' -> has p t S <= has p t S'.
Proof.
move=> p0 /subsetP sub; rewrite /has [X in _ <= X](bigID (fun w : world => w t \in S)) /=.
rewrite [X in _ <= X + _](eq_bigl (fun w : world => w t \in S)) => [|w]; first by rewrite ler_addl sumr_ge0.
by case: (boolP (w t \in S)) => [/sub->|_]; rewrite ?andbT ?andbF.
Qed.

Lemma has_total p t : has p t setT = total p.
Proof. by apply: eq_bigl => w; rewrite inE. Qed.

Theorem belief_le p S S' t : (forall w, 0 <= p w) -> S \subset S' -> belief p t S <= belief p t S'.
Proof. by move=> p0 sub; rewrite ler_wpmul2r ?has_le // invr_ge0 sumr_ge0. Qed.

Lemma mixture (I : Type) (parts : seq I) (p : I -> world -> R) S t b :
  (forall i, has (p i) t S <= b * total (p i)) ->
  has (fun w => \sum_(i <- parts) p i w) t S <= b * total (fun w => \sum_(i <- parts) p i w).
Proof.
move=> each; rewrite /has /total exchange_big [X in _ <= b * X]exchange_big mulr_sumr; apply: ler_sum => i _; exact: each.
Qed.

Lemma belief_bounded p S t b : 0 < total p -> has p t S <= b * total p -> belief p t S <= b.
Proof. by move=> some; rewrite /belief ler_pdivr_mulr. Qed.

End Exchange.
