//! Lists of things to do.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use toolgate_core::id::SessionId;
use toolgate_core::keeping::{
    KeepingError, NewTodo, Todo, TodoFault, TodoId, TodoList, TodoStatus, Todos,
};

use super::columns::{at, now, one_of};
use super::place::{MOST, Shelf};
use crate::error::StoreError;
use crate::records::bytes_of;
use crate::time::micros;

/// What stands before the id of a session that owns a list.
const SESSION: &str = "session:";

impl Todos for Shelf {
    fn add(&self, list: &TodoList, todo: NewTodo) -> Result<Todo, TodoFault> {
        let added = self.commit(|rows| {
            let list = numbered(rows, list)?;
            let room = "SELECT count(*), coalesce(max(position), 0) FROM todos WHERE list = ?1";
            let (count, last): (u32, i64) = rows
                .prepare_cached(room)?
                .query_row([list], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if count >= MOST {
                return Ok(Err(TodoFault::Full { most: MOST }));
            }
            let todo = begin(rows, list, todo)?;
            insert(rows, list, last.saturating_add(1), &todo)?;
            Ok(Ok(todo))
        });
        added.map_err(KeepingError::from)?
    }

    fn complete(&self, list: &TodoList, id: TodoId) -> Result<Todo, TodoFault> {
        let sql = "UPDATE todos SET status = 'completed' WHERE list = ?1 AND number = ?2
                   RETURNING number, task, status, active_form, created";
        self.change(list, id, sql)
    }

    fn remove(&self, list: &TodoList, id: TodoId) -> Result<Todo, TodoFault> {
        let sql = "DELETE FROM todos WHERE list = ?1 AND number = ?2
                   RETURNING number, task, status, active_form, created";
        self.change(list, id, sql)
    }

    fn replace(&self, list: &TodoList, todos: Vec<NewTodo>) -> Result<Vec<Todo>, TodoFault> {
        if u32::try_from(todos.len()).map_or(true, |count| count > MOST) {
            return Err(TodoFault::Full { most: MOST });
        }
        let replaced = self.commit(|rows| {
            let list = numbered(rows, list)?;
            let mut before: HashMap<String, VecDeque<Todo>> = HashMap::new();
            for todo in all(rows, list)? {
                before.entry(todo.task.clone()).or_default().push_back(todo);
            }
            rows.prepare_cached("DELETE FROM todos WHERE list = ?1")?.execute([list])?;
            let mut after = Vec::with_capacity(todos.len());
            for (new, position) in todos.into_iter().zip(1..) {
                let known = before.get_mut(&new.task).and_then(VecDeque::pop_front);
                let todo = match known {
                    Some(known) => {
                        Todo { status: new.status, active_form: new.active_form, ..known }
                    }
                    None => begin(rows, list, new)?,
                };
                insert(rows, list, position, &todo)?;
                after.push(todo);
            }
            Ok(after)
        });
        Ok(replaced.map_err(KeepingError::from)?)
    }

    fn list(&self, list: &TodoList) -> Result<Vec<Todo>, KeepingError> {
        let todos = self.look(|rows| match known(rows, list)? {
            None => Ok(Vec::new()),
            Some(list) => all(rows, list),
        });
        Ok(todos?)
    }
}

impl Shelf {
    /// The sessions that have todos of their own in a workspace.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn sessions_with_todos(&self, workspace: &Path) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT DISTINCT owner FROM todo_lists JOIN todos ON list = todo_lists.id
                   WHERE workspace = ?1 AND owner <> '' ORDER BY todo_lists.id";
        let owners: Vec<String> = self.look(|rows| {
            let mut rows = rows.prepare_cached(sql)?;
            rows.query_map([bytes_of(workspace)], |row| row.get(0))?.collect()
        })?;
        let ids = owners.iter().filter_map(|owner| owner.strip_prefix(SESSION));
        Ok(ids.map(SessionId::from).collect())
    }

    /// Changes one thing on a list; what it is or was.
    fn change(&self, list: &TodoList, id: TodoId, sql: &str) -> Result<Todo, TodoFault> {
        let changed = self.commit(|rows| {
            let Some(list) = known(rows, list)? else { return Ok(None) };
            rows.prepare_cached(sql)?.query_row([list, id.0], read).optional()
        });
        changed.map_err(KeepingError::from)?.ok_or(TodoFault::NoSuch(id))
    }
}

fn owner(list: &TodoList) -> String {
    list.session.as_ref().map_or_else(String::new, |session| format!("{SESSION}{session}"))
}

/// The number of a list that was used before.
fn known(rows: &Connection, list: &TodoList) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT id FROM todo_lists WHERE workspace = ?1 AND owner = ?2";
    let of = params![bytes_of(&list.workspace), owner(list)];
    rows.prepare_cached(sql)?.query_row(of, |row| row.get(0)).optional()
}

/// The number of a list.
fn numbered(rows: &Connection, list: &TodoList) -> rusqlite::Result<i64> {
    if let Some(number) = known(rows, list)? {
        return Ok(number);
    }
    let sql = "INSERT INTO todo_lists (workspace, owner, next) VALUES (?1, ?2, 1)";
    rows.prepare_cached(sql)?.execute(params![bytes_of(&list.workspace), owner(list)])?;
    Ok(rows.last_insert_rowid())
}

/// Gives something the next id of a list.
fn begin(rows: &Connection, list: i64, new: NewTodo) -> rusqlite::Result<Todo> {
    let sql = "UPDATE todo_lists SET next = next + 1 WHERE id = ?1 RETURNING next - 1";
    let id = TodoId(rows.prepare_cached(sql)?.query_row([list], |row| row.get(0))?);
    let NewTodo { task, status, active_form } = new;
    Ok(Todo { id, task, status, active_form, created: crate::time::moment(now()) })
}

fn insert(rows: &Connection, list: i64, position: i64, todo: &Todo) -> rusqlite::Result<()> {
    let sql = "INSERT INTO todos (list, number, position, task, status, active_form, created)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    rows.prepare_cached(sql)?.execute(params![
        list,
        todo.id.0,
        position,
        todo.task,
        todo.status.name(),
        todo.active_form,
        micros(todo.created),
    ])?;
    Ok(())
}

fn all(rows: &Connection, list: i64) -> rusqlite::Result<Vec<Todo>> {
    let sql = "SELECT number, task, status, active_form, created FROM todos WHERE list = ?1
               ORDER BY position, number";
    rows.prepare_cached(sql)?.query_map([list], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Todo> {
    Ok(Todo {
        id: TodoId(row.get(0)?),
        task: row.get(1)?,
        status: one_of(row, 2, &TodoStatus::ALL, TodoStatus::name)?,
        active_form: row.get(3)?,
        created: at(row, 4)?,
    })
}
