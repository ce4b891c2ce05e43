(* Two small tables: the figure of soft cuts is attained, so that the theorem is not vacuous; and tight cuts do not hold.
   docs/guarantees.md, "The smallest example"; "Why safe boxes hold against the engineer, and tight ones only against the reader". *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra zify.
From Sfumato Require Import exchange coins soft_cuts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Three people with quasi values 0, 1, 1; one of them has x; its bound is 1/2, a coin refuses with chance 7/10. The one cut, of the
    first person from the others, was refused. *)
Section Smallest.
Let P := [finType of 'I_3].
Let V := bool_finType.
Let q : rat := 7%:R / 10%:R.
Let event (e : unit_finType) : {set V} := [set true].
Let bound (e : unit_finType) : rat := 1 / 2%:R.
Let first : {set P} := [set ord0].
Let candidates (B : {set P}) : seq {set P} := if B == setT then [:: first] else [::].
Let coin (n : nat) : rat := q.

Definition one (i : P) : world P V := [ffun p => p == i].
Definition some_one (w : world P V) : rat := \sum_(i : P) (w == one i)%:R.
Definition counts3 : {ffun V -> nat} := [ffun v => if v then 1 else 2]%N.
Definition whole : published rat_realFieldType P V := [:: (setT, q, counts3)].
Definition seen := weight event bound candidates coin 1 id id [:: setT] some_one [:: [:: Refused Final]] whole.

Lemma some_one_alike t u w : some_one (exchange t u w) = some_one w.
Proof.
rewrite /some_one (reindex_inj (@perm_inj _ (tperm t u))); apply: eq_bigr => i _; congr (_%:R); congr nat_of_bool.
rewrite -(inj_eq (inv_inj (@exchangeK _ _ t u))) exchangeK; congr (_ == _).
by apply/ffunP=> p; rewrite !ffunE (inj_eq perm_inj).
Qed.

Lemma count_one B i : count B [set true] (one i) = (i \in B).
Proof.
rewrite /count; have [iB|iB] := boolP (i \in B); last first.
  by apply/eqP; rewrite cards_eq0; apply/eqP/setP=> p; rewrite !inE ffunE eqb_id; case: eqP => [->|]; rewrite ?(negPf iB) ?andbF.
by apply/eqP/cards1P; exists i; apply/setP=> p; rewrite !inE ffunE eqb_id; case: eqP => [->|]; rewrite ?iB ?andbF.
Qed.

Lemma sizes : [/\ #|P| = 3, #|setT :&: first| = 1 & #|setT :\: first| = 2]%N.
Proof.
have s1 : #|setT :&: first| = 1%N by rewrite setTI cards1.
have s3 : #|P| = 3%N by rewrite card_ord.
by split=> //; have := cardsID first setT; rewrite s1 cardsT s3 => -[].
Qed.

Lemma fitsE c n T : fits bound id c tt n T = (c%:R <= 1 / 2%:R * (1 + (n.-1)%:R * T)).
Proof. by rewrite /fits /room. Qed.

Lemma cap1 n T : cap bound id tt 1 n T = (1 <= 1 / 2%:R * (1 + (n.-1)%:R * T)) :> nat.
Proof.
by rewrite /cap big_mkcond !big_ord_recl big_ord0 /= /bump /= addn0 !fitsE; case: (1 <= _); case: (0 <= _).
Qed.

Lemma chance_one i : chance event bound candidates coin 1 id id (one i) (Refused Final) setT 1 0 [:: first]
  = if i == ord0 then 1 else q.
Proof.
have [s3 s1 s2] := sizes; rewrite /= s1 s2.
have h : count_events event setT (one i) = [ffun=> 1%N] by apply/ffunP=> e; rewrite !ffunE count_one inE.
have here : count_events event (setT :&: first) (one i) = [ffun=> nat_of_bool (i == ord0)].
  by apply/ffunP=> e; rewrite !ffunE count_one !inE.
have keepsE n T : keeps bound id (E := unit_finType) [ffun=> 1%N] n T = (1 <= 1 / 2%:R * (1 + (n.-1)%:R * T)).
  by apply/forallP/idP => [/(_ tt)|fit []]; rewrite ffunE fitsE.
have -> : before_test bound coin 1 id id (count_events event setT (one i)) 1 2 1 0 = Try.
  rewrite /before_test h !keepsE (_ : possible _ _ _ _ _ _) //.
  by apply/forallP=> -[]; rewrite !ffunE !cap1.
have -> : slack bound id (count_events event setT (one i)) (count_events event (setT :&: first) (one i)) 1 2 1 = - (i == ord0)%:Z.
  rewrite /slack h here; apply/eqP; rewrite eq_le; apply/andP; split.
    apply: le_trans (min_le _ _ (mem_index_enum (tt, true)) _) _; rewrite /= ?ffunE ?cap1 //.
    by case: (i == ord0).
  apply: (big_ind (fun a : int => - (i == ord0)%:Z <= a)) => [|a b|]; first by case: (i == ord0).
    by rewrite le_minr => -> ->.
  by move=> [[] []]; rewrite /= ?ffunE ?cap1 //; case: (i == ord0).
by rewrite mulr1; case: (i == ord0).
Qed.

Lemma weighed (f : world P V -> rat) (A : pred (world P V)) :
  \sum_(w | A w) some_one w * f w = \sum_(i : P | A (one i)) f (one i).
Proof.
rewrite /some_one; under eq_bigr do rewrite mulr_suml; rewrite exchange_big /= [RHS]big_mkcond; apply: eq_bigr => i _.
case: ifP => Ai; first by rewrite (bigD1 (one i)) //= eqxx mul1r big1 ?addr0 // => w /andP[_ /negPf->]; rewrite mul0r.
by rewrite big1 // => w Aw; case: eqP => [e|_]; rewrite ?mul0r //; rewrite e Ai in Aw.
Qed.

Lemma values_one i : values setT (one i) = counts3.
Proof.
apply/ffunP=> -[]; rewrite !ffunE ?count_one ?inE //; have [s3 _ _] := sizes.
rewrite /count (_ : [set _ in _ | _] = [set~ i]) ?cardsC1 ?s3 //.
by apply/setP=> p; rewrite !inE ffunE; case: (p == i).
Qed.

Lemma seen_one i : likelihood event bound candidates coin 1 id id [:: setT] [:: [:: Refused Final]] whole (one i)
  = if i == ord0 then 1 else q.
Proof.
rewrite /likelihood big_cons big_nil addr0 -chance_one.
have start : candidates setT = [:: first] by rewrite /candidates eqxx.
have -> : release candidates coin id id [:: setT] [:: Refused Final] (one i) == whole.
  by rewrite /release /run_finals start /= values_one mul1r.
by rewrite /run_chance start mulr1.
Qed.

(** **Theorem.** She believes 1/2.4 of the first person, which is the figure c / (1 + (n - 1)·account) for c = 1, n = 3, account = 7/10. *)
Theorem smallest_attains : belief seen ord0 [set true] = 1 / (1 + 2%:R * q) /\ 1 / (1 + 2%:R * q) = 10%:R / 24%:R.
Proof.
split=> //; rewrite /belief /has /total /seen /weight (weighed _ (fun w => w ord0 \in [set true])) (weighed _ xpredT).
rewrite (big_pred1 ord0) => [|i]; last by rewrite inE ffunE eqb_id eq_sym.
by rewrite !big_ord_recl big_ord0 !seen_one.
Qed.

End Smallest.

(** Two young and four old people, values x x y z u v, bound 1/2: the cut between young and old is made if both sides, as they are,
    keep the bound. It was refused. *)
Section Tight.
Let P := [finType of 'I_6].
Let V := [finType of 'I_5].
Definition young : {set P} := [set p : P | (p < 2)%N].
Definition x : V := ord0.
Definition table (w : world P V) : bool := [forall v, count setT [set v] w == (v == x).+1].
Definition keeps_half (B : {set P}) (w : world P V) : bool := [forall v, (2 * count B [set v] w <= #|B|)%N].
Definition tight_refused (w : world P V) : rat := (table w && ~~ (keeps_half young w && keeps_half (~: young) w))%:R.

Lemma young2 : #|young| = 2%N.
Proof. by rewrite -sum1_card big_mkcond /= !big_ord_recl big_ord0 !inE. Qed.

Lemma old4 : #|~: young| = 4%N.
Proof. by have := cardsC young; rewrite young2 card_ord => -[]. Qed.

Lemma count_all (B : {set P}) (S : {set V}) w : (count B S w <= count setT S w)%N.
Proof. by apply: subset_leq_card; apply/subsetP=> p; rewrite !inE => /andP[_ ->]. Qed.

Lemma young_have_x (w : world P V) (p : P) : tight_refused w != 0 -> p \in young -> w p = x.
Proof.
rewrite /tight_refused; case: (boolP (table w)) => //= /forallP all_counts; rewrite negb_and.
have total v : (count setT [set v] w <= (v == x).+1)%N by rewrite (eqP (all_counts v)).
case: orP => //= -[] /forallPn[v]; rewrite ?young2 ?old4 -ltnNge => many; last first.
  by have := count_all (~: young) [set v] w; have := total v; lia.
move=> _ py; have := count_all young [set v] w; have := total v; have [e|] := eqVneq v x; last by move=> _; lia.
move=> _ _; have both : [set u in young | w u \in [set v]] = young.
  apply/eqP; rewrite eqEcard young2; apply/andP; split; first by apply/subsetP=> u; rewrite inE => /andP[].
  by move: many; rewrite /count; lia.
by move: py; rewrite -both !inE => /andP[_ /eqP->].
Qed.

Definition both_young : world P V := [ffun p : 'I_6 => inord p.-1].

Lemma both_young_refused : tight_refused both_young = 1.
Proof.
rewrite /tight_refused (_ : table _) /=; last first.
  apply/forallP=> v; rewrite /count -sum1_card big_mkcond /= !big_ord_recl big_ord0 !inE !ffunE -!val_eqE /= !inordK //.
  by case: v => -[|[|[|[|[|]]]]].
rewrite (_ : keeps_half _ _ = false) //; apply/negP=> /forallP/(_ x); rewrite young2.
by rewrite /count -sum1_card big_mkcond /= !big_ord_recl big_ord0 !inE !ffunE -!val_eqE /= !inordK.
Qed.

(** **Theorem.** Whoever reruns the program is certain of both young people, where the share of the box is 2/6. *)
Theorem tight_certain t : t \in young -> belief tight_refused t [set x] = 1.
Proof.
move=> ty; rewrite /belief; have -> : has tight_refused t [set x] = total tight_refused.
  rewrite /has big_mkcond; apply: eq_bigr => w _; rewrite inE; case: eqP => // no.
  by apply/esym/eqP; apply: contraT => /young_have_x/(_ ty)/no.
apply: divff; rewrite gt_eqF //; apply: (@lt_le_trans _ _ (tight_refused both_young)); first by rewrite both_young_refused.
by rewrite /total (bigD1 both_young) //= ler_addl sumr_ge0 // => w _; rewrite ler0n.
Qed.

End Tight.
